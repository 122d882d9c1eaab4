"""Samplers of real libraries, under the law that they document or that their users claim."""

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from batch_zoo import FIXED, POISSON, RATE, RECORDS, SHUFFLE, SIZE, Made, Rng

ENDLESS = 10**6  # batches of samplers that must be told how many


class Real(NamedTuple):
    """A sampler; says: what is known of it in public; right: whether it has the claimed law."""

    package: str
    name: str
    sampling: str
    right: bool
    made: Callable[[Rng], Made]
    says: str = ""


def _seeded(rng: Rng) -> Any:
    import torch

    return torch.Generator().manual_seed(int(rng.integers(2**62)))


def _again(epoch: Callable[[], Iterable[Any]]) -> Made:
    """Epoch after epoch, as a training loop takes them."""
    while True:
        for batch in epoch():
            yield np.asarray(batch, dtype=np.int64)


def _opacus(rng: Rng) -> Made:
    of = import_module("opacus.utils.uniform_sampler")
    sampler = of.UniformWithReplacementSampler(
        num_samples=RECORDS, sample_rate=RATE, generator=_seeded(rng)
    )
    return _again(lambda: sampler)


def _numbers() -> Any:
    import torch
    from torch.utils.data import TensorDataset

    return TensorDataset(torch.arange(RECORDS))


def _loader(rng: Rng) -> Made:
    of = import_module("opacus.data_loader")
    loader = of.DPDataLoader(_numbers(), sample_rate=RATE, generator=_seeded(rng))
    return _again(lambda: (batch[0].long() for batch in loader))


def _torch(**how: Any) -> Callable[[Rng], Made]:
    def made(rng: Rng) -> Made:
        from torch.utils.data import DataLoader, RandomSampler

        given = dict(how)
        if given.pop("replacement", False):
            given["sampler"] = RandomSampler(
                range(RECORDS), replacement=True, generator=_seeded(rng)
            )
        loader = DataLoader(_numbers(), batch_size=SIZE, generator=_seeded(rng), **given)
        return _again(lambda: (batch[0] for batch in loader))

    return made


def _jax_privacy(strategy: str, **how: Any) -> Callable[[Rng], Made]:
    def made(rng: Rng) -> Made:
        of = import_module("jax_privacy.batch_selection")
        chosen = getattr(of, strategy)(iterations=ENDLESS, **how)
        return (batch.astype(np.int64) for batch in chosen.batch_iterator(RECORDS, rng))

    return made


def _permutation(rng: Rng) -> Made:
    return _again(lambda: np.split(rng.permutation(RECORDS), RECORDS // SIZE))


def _choice(rng: Rng) -> Made:
    while True:
        yield rng.choice(RECORDS, SIZE, replace=False)


_OLD = "users of a DataLoader claimed Poisson sampling ([opacus #80]({}opacus/issues/80))"
_OPACUS = "https://github.com/meta-pytorch/"
_JAX = "https://github.com/google-deepmind/jax_privacy/issues/"
_CLAIMED = _OLD.format(_OPACUS)
_KERAS = f"batches of fixed size under the accounting of Poisson ([#84]({_JAX}84))"
_BINOMIAL = f"a binomial count was called wrong ([#121]({_JAX}121)); it is the same law"

REAL = (
    Real("opacus", "UniformWithReplacementSampler", POISSON, True, _opacus),
    Real("opacus", "DPDataLoader", POISSON, True, _loader),
    Real("PyTorch", "DataLoader(shuffle=True)", SHUFFLE, True, _torch(shuffle=True)),
    Real("PyTorch", "DataLoader(shuffle=True)", POISSON, False, _torch(shuffle=True), _CLAIMED),
    Real("PyTorch", "DataLoader(shuffle=True)", FIXED, False, _torch(shuffle=True), _CLAIMED),
    Real("PyTorch", "RandomSampler(replacement=True)", FIXED, False, _torch(replacement=True)),
    Real(
        "jax-privacy",
        "CyclicPoissonSampling",
        POISSON,
        True,
        _jax_privacy("CyclicPoissonSampling", sampling_prob=RATE),
        _BINOMIAL,
    ),
    Real(
        "jax-privacy",
        "CyclicPoissonSampling(truncated_batch_size=48)",
        POISSON,
        False,
        _jax_privacy("CyclicPoissonSampling", sampling_prob=RATE, truncated_batch_size=48),
        "documented: truncation has an accounting of its own",
    ),
    Real(
        "jax-privacy",
        "CyclicPoissonSampling(cycle_length=2)",
        POISSON,
        False,
        _jax_privacy("CyclicPoissonSampling", sampling_prob=2 * RATE, cycle_length=2),
        "documented: cycles have an accounting of their own",
    ),
    Real(
        "jax-privacy",
        "BallsInBinsSampling",
        POISSON,
        False,
        _jax_privacy("BallsInBinsSampling", cycle_length=RECORDS // SIZE),
        "documented: bins have an accounting of their own",
    ),
    Real(
        "jax-privacy",
        "FixedBatchSampling",
        FIXED,
        True,
        _jax_privacy("FixedBatchSampling", batch_size=SIZE),
    ),
    Real(
        "jax-privacy",
        "FixedBatchSampling",
        POISSON,
        False,
        _jax_privacy("FixedBatchSampling", batch_size=SIZE),
        _KERAS,
    ),
    Real("NumPy", "Generator.choice(replace=False)", FIXED, True, _choice),
    Real("NumPy", "Generator.permutation", SHUFFLE, True, _permutation),
    Real("NumPy", "Generator.permutation", POISSON, False, _permutation),
)


def add_packages(folder: str) -> None:
    """Adds a folder of packages behind those that are installed."""
    if folder and folder not in sys.path:
        sys.path.append(folder)
