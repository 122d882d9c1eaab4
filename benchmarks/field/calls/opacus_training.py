"""opacus: `make_private` trains logistic regression on digits with canaries (`canary_digits`)."""

import warnings

import torch
from canary_digits import answer
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, Dataset

RATE, NORM = 1.0, 1.0

warnings.filterwarnings("ignore")
torch.set_num_threads(1)


class Records(Dataset):
    """Features and labels, of which a batch is taken at once."""

    def __init__(self, features, labels):
        self.features, self.labels = torch.from_numpy(features), torch.from_numpy(labels)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, place):
        return self.features[place], self.labels[place]

    def __getitems__(self, places):
        return self[torch.as_tensor(places)]


def train(features, labels, *, sampling, batches, multiplier, steps, seed):
    """The weights after so many steps; batches: of an epoch."""
    torch.manual_seed(seed)
    layer = torch.nn.Linear(features.shape[1], 1, bias=False)
    torch.nn.init.zeros_(layer.weight)
    size = len(labels) // batches
    records = Records(features, labels)
    layer, optimizer, loader = PrivacyEngine().make_private(
        module=layer,
        optimizer=torch.optim.SGD(layer.parameters(), lr=RATE),
        data_loader=DataLoader(records, batch_size=size, shuffle=True, collate_fn=lambda x: x),
        noise_multiplier=multiplier,
        max_grad_norm=NORM,
        poisson_sampling=sampling == "poisson",
    )
    done = 0
    while done < steps:
        for some, wanted in loader:
            optimizer.zero_grad()
            said = layer(some)[:, 0]
            torch.nn.functional.binary_cross_entropy_with_logits(said, wanted).backward()
            optimizer.step()
            done += 1
            if done == steps:
                break
    return layer.state_dict()["_module.weight"][0].numpy()


answer(train)
