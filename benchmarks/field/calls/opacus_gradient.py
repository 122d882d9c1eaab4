"""opacus: `DPOptimizer` clips and sums per-record gradients of two tensors, and adds noise.

The records stand where `GradSampleModule` would have put gradients, in `grad_sample`. With the word
`engine` on the command line, the optimizer is the one that `make_private` makes for a loader of
these records, whose batch size is the public one; else it is made with that batch size itself. No
input has more records than that, so that a batch is all of them. With the word `finite`, records
that are not finite are refused beforehand.
"""

import sys
import warnings

import numpy as np
import torch
from opacus import PrivacyEngine
from opacus.optimizers import DPOptimizer
from served import serve
from torch.utils.data import DataLoader, TensorDataset

BATCH = 256
SHAPES = ((4, 3), (3,))
NOISE = {"noise_multiplier": 1.1, "max_grad_norm": 1.0}

warnings.filterwarnings("ignore", message="Secure RNG turned off")


class Model(torch.nn.Module):
    """Parameters alone, in double precision: a record of 10^308 is not finite in single."""

    def __init__(self):
        super().__init__()
        tensors = [torch.nn.Parameter(torch.zeros(s, dtype=torch.float64)) for s in SHAPES]
        self.tensors = torch.nn.ParameterList(tensors)


def private_optimizer(gradients):
    """For these gradients (n, *shape) in each tensor."""
    model = Model()
    inner = torch.optim.SGD(model.parameters(), lr=1.0)
    if "engine" not in sys.argv:
        return DPOptimizer(inner, expected_batch_size=BATCH, **NOISE)
    if not len(gradients[0]):
        raise ValueError("make_private takes no data set without records")
    loader = DataLoader(TensorDataset(*gradients), batch_size=BATCH)
    _, private, _ = PrivacyEngine().make_private(
        module=model, optimizer=inner, data_loader=loader, **NOISE
    )
    return private


def release(values, size):
    """Noisy means of gradients (n, *shape) in each tensor."""
    gradients = [
        torch.from_numpy(np.array(tensor, dtype=float).reshape(-1, *shape))
        for tensor, shape in zip(values, SHAPES, strict=True)
    ]
    if "finite" in sys.argv and not all(tensor.isfinite().all() for tensor in gradients):
        raise ValueError("a record is not finite")
    optimizer = private_optimizer(gradients)
    found = []
    for _ in range(size):
        optimizer.zero_grad()
        for parameter, tensor in zip(optimizer.params, gradients, strict=True):
            parameter.grad_sample = tensor.clone()  # which is marked as used
        optimizer.pre_step()
        found.append(torch.cat([p.grad.ravel() for p in optimizer.params]).tolist())
    return found


serve(release)
