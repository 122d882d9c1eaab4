"""opacus: `make_private` with ghost clipping, of a linear layer whose gradients are the records.

The first word on the command line says which of its gradients: `weight`, of one row of weights, of
inputs (n, 8); or `bias`, of inputs (n, 2, 1), two steps that each have half of the gradient. The
second word is `max_grad_norm`. The update is a mean over the loader's batch, which is all records;
it is multiplied by the divisor that `make_private` chose, so that the sum is judged. Records that
are not finite are refused beforehand.
"""

import sys
import warnings

import numpy as np
import torch
from opacus import PrivacyEngine
from opacus.utils import fast_gradient_clipping_utils as ghost
from served import serve
from torch.utils.data import DataLoader, TensorDataset

WIDTH, BATCH = 8, 256
NORM = float(sys.argv[2])
OF_BIAS = sys.argv[1] == "bias"
BEFORE_CRITERIA = hasattr(ghost, "double_backward")
"""As in version 1.5.2, whose interface is another."""

warnings.filterwarnings("ignore", message="Secure RNG turned off")


def private(records):
    """The layer, in double precision as records are, and its optimizer."""
    if OF_BIAS:
        layer = torch.nn.Linear(1, WIDTH, dtype=torch.float64)
        layer.weight.requires_grad_(False)
    else:
        layer = torch.nn.Linear(WIDTH, 1, bias=False, dtype=torch.float64)
    wrapped, optimizer, *_ = PrivacyEngine().make_private(
        module=layer,
        optimizer=torch.optim.SGD([p for p in layer.parameters() if p.requires_grad], lr=1.0),
        data_loader=DataLoader(TensorDataset(records), batch_size=BATCH),
        noise_multiplier=1.1,
        max_grad_norm=NORM,
        grad_sample_mode="ghost",
        clipping="ghost" if BEFORE_CRITERIA else "flat",
    )
    return wrapped, optimizer


def losses(layer, records):
    """One for each record, whose gradient is the record."""
    if OF_BIAS:
        steps = layer(torch.zeros(len(records), 2, 1, dtype=torch.float64))
        return (steps * records[:, None, :] / 2).sum((1, 2))
    return layer(records)[:, 0]


def backward(layer, optimizer, found):
    """Runs the two passes of ghost clipping."""
    if BEFORE_CRITERIA:
        ghost.double_backward(layer, optimizer, found)
    else:
        ghost.DPTensorFastGradientClipping(layer, optimizer, found).backward()


def release(values, size):
    """Noisy sums of gradients (n, 8)."""
    records = torch.from_numpy(np.array(values[0], dtype=float).reshape(-1, WIDTH))
    if not len(records):
        raise ValueError("make_private takes no data set without records")
    if not records.isfinite().all():
        raise ValueError("a record is not finite")
    layer, optimizer = private(records)
    (parameter,) = optimizer.params
    found = []
    for _ in range(size):
        optimizer.zero_grad()
        backward(layer, optimizer, losses(layer, records))
        optimizer.pre_step()
        found.append((parameter.grad.ravel() * optimizer.expected_batch_size).tolist())
    return found


serve(release)
