"""The learner of Definition 3.1: a model in training, and what it releases on the way.

Steps (1), (5), (6) and (7). The adversary computes the same on public records (`released`).
"""

from dataclasses import dataclass

import numpy as np

from dpassay.attacks.gradients.defences.defence import Defence
from dpassay.attacks.gradients.defences.named import Perturbation
from dpassay.attacks.gradients.vendor_game import SensitiveBatches
from dpassay.reference.parallel.workers import stream

from .data import Floats, Records, Whole
from .derivatives import batch_gradients, norms
from .models import Model, Network


@dataclass(frozen=True)
class Training:
    """How a model learns: steps of gradient descent over shuffled records, an epoch a round.

    rate: of learning; batch: records a step, or None for all of them at once.
    """

    rate: float = 0.01
    batch: int | None = 16


def released(
    model: Model,
    records: Records,
    batches: SensitiveBatches,
    defence: Defence,
    seed: tuple[int, ...],
) -> Floats:
    """What a learner with these parameters releases (b, p) for each batch of its records.

    model: of the defence's network; seed: of the randomness of the loss and of the defence.
    """
    rows, random = batches.rows, stream(list(seed), 0)
    noise = _noise(model.network, rows.shape, random)
    shares = _shares(model, records, rows, defence, noise)
    sums = _sums(model, records, rows, shares, noise)
    return defence.defended(sums, batches.sensitive, int(random.integers(2**31)))


def trained(
    model: Model,
    records: Records,
    defence: Defence,
    training: Training,
    seed: tuple[int, ...],
) -> Model:
    """The model after one epoch of defended steps.

    A defence that must know what a batch is to hide guards the releases alone: the records of a
    step are mixed.
    """
    guard = Defence() if isinstance(defence, Perturbation) else defence
    random = stream(list(seed), 1)
    order = random.permutation(len(records))
    size = training.batch or len(records)
    for start in range(0, len(records) - size + 1, size):
        rows = order[None, start : start + size]
        noise = _noise(model.network, rows.shape, random)
        shares = _shares(model, records, rows, guard, noise)
        sums = _sums(model, records, rows, shares, noise)
        step = guard.defended(sums, None, int(random.integers(2**31)))[0]
        model = Model(model.network, model.parameters - np.float32(training.rate) * step)
    return model


def _sums(
    model: Model, records: Records, rows: Whole, shares: Floats | None, noise: Floats | None
) -> Floats:
    return batch_gradients(
        model.network,
        model.parameters,
        records.features,
        records.labels,
        rows,
        shares=shares,
        noise=noise,
    )


def _noise(network: Network, shape: tuple[int, ...], random: np.random.Generator) -> Floats | None:
    """Normals for the loss of each record of each batch."""
    if not network.noises:
        return None
    return random.standard_normal((*shape, network.noises), dtype=np.float32)


def _shares(
    model: Model,
    records: Records,
    rows: Whole,
    defence: Defence,
    noise: Floats | None,
) -> Floats | None:
    """How much each record of each batch counts (b, k), or None for equal parts."""
    if type(defence).shares is Defence.shares:
        return None
    if noise is None and rows.size > len(records):  # of each record once
        all_norms = norms(model.network, model.parameters, records.features, records.labels)
        return defence.shares(all_norms[rows])
    each = rows.reshape(-1)
    drawn = None if noise is None else noise.reshape(each.size, -1)
    found = norms(
        model.network, model.parameters, records.features[each], records.labels[each], drawn
    )
    return defence.shares(found.reshape(rows.shape))
