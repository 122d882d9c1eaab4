"""Hypothesis strategies for histograms, neighbouring pairs and claims."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np
from hypothesis import HealthCheck, Phase, configuration, given, seed, settings
from hypothesis import strategies as st

from ....reference import Histogram
from ....reference import neighbours as all_neighbours
from ....reference.noise import ROUNDINGS
from .claim import LabelsClaim

T = TypeVar("T")

IntOrStrategy = int | st.SearchStrategy[int]

_CLASSES = st.integers(2, 12)
_TEACHERS = st.integers(1, 500)
_ROUNDED = ("", "", "", *(f";{rounding}" for rounding in ROUNDINGS))
_DRAWN = 48  # classes whose shares are drawn one by one


def _integers(value: IntOrStrategy) -> st.SearchStrategy[int]:
    return st.just(value) if isinstance(value, int) else value


@st.composite
def histograms(
    draw: st.DrawFn,
    classes: IntOrStrategy = _CLASSES,
    teachers: IntOrStrategy = _TEACHERS,
) -> Histogram:
    """Histograms, int64 of shape (classes,), whose votes sum to `teachers`.

    Shares of the votes are drawn class by class, so that unanimous, tied and empty classes are
    common; of many classes for some dozens, anywhere among them, and the rest alike. Shrinks
    towards all votes for class 0.
    """
    total = draw(_integers(teachers))
    size = draw(_integers(classes))
    some = min(size, _DRAWN)
    shares = draw(st.lists(st.integers(0, 20), min_size=some, max_size=some))
    if size > some:
        spread = [draw(st.integers(0, 1))] * size
        first = draw(st.integers(0, size - 1))
        for i, share in enumerate(shares):
            spread[(first + i * (size // some)) % size] = share
        shares = spread
    whole = max(1, sum(shares))
    votes = np.array([total * share // whole for share in shares], dtype=np.int64)
    votes[int(np.argmax(shares))] += total - votes.sum()
    return votes


@st.composite
def neighbours(
    draw: st.DrawFn, of: st.SearchStrategy[Histogram] | None = None
) -> tuple[Histogram, Histogram]:
    """A histogram and one that differs by a single teacher's vote."""
    histogram = draw(of if of is not None else histograms())
    options = list(all_neighbours(histogram))
    return histogram, options[draw(st.integers(0, len(options) - 1))]


@st.composite
def claims(draw: st.DrawFn) -> LabelsClaim:
    """Valid claims over every mechanism; with weights, of a target that takes votes."""
    name = draw(st.sampled_from(["gnmax", "lnmax", "report-noisy-max", "confident-gnmax"]))
    families = {
        "lnmax": ["laplace"],
        "report-noisy-max": ["exponential", "gumbel", "laplace", "gaussian"],
    }
    family = draw(st.sampled_from(families.get(name, ["gaussian"])))
    scales = st.integers(1, 200)
    mechanism: dict[str, Any] = {
        "name": name,
        "noise": f"{family}:{draw(scales)}{draw(st.sampled_from(_ROUNDED))}",
        "classes": draw(st.integers(2, 20)),
        "teachers": draw(st.integers(2, 1000)),
    }
    if name == "confident-gnmax":
        mechanism["threshold"] = float(draw(st.integers(0, mechanism["teachers"])))
        mechanism["threshold_noise"] = f"gaussian:{draw(scales)}"
    of_records = {"unit": "record", "max_teachers": draw(st.integers(1, mechanism["teachers"]))}
    near: dict[str, Any] = draw(st.sampled_from([{}, {"adjacency": "add-remove"}, of_records]))
    mechanism |= near
    if mechanism["noise"].startswith("gaussian") and ";" not in mechanism["noise"]:
        drawn = draw(st.integers(1, mechanism["teachers"]))
        ways = [f"poisson:{draw(st.sampled_from([0.1, 0.5]))}", f"fixed:{drawn}"]
        sampled = draw(st.sampled_from([None, *ways, f"with-replacement:{drawn}"]))
        if sampled and not near and name != "confident-gnmax":
            mechanism["sampled"] = sampled
    if not near and "sampled" not in mechanism and draw(st.booleans()):
        light = draw(st.integers(1, mechanism["teachers"] - 1))
        groups = [[light, 1], [mechanism["teachers"] - light, draw(st.integers(2, 9))]]
        mechanism["weights"] = groups
        return LabelsClaim.checked({"mechanism": mechanism, "inputs": {"form": "votes"}})
    return LabelsClaim.checked({"mechanism": mechanism})


def examples(strategy: st.SearchStrategy[T], count: int, seed_: int) -> list[T]:
    """`count` draws from a strategy at most, the same for the same seed.

    They are collected first and used afterwards: a target must never be called inside a Hypothesis
    test body, where the global generators are reset before each example.
    """
    found: list[T] = []

    @seed(seed_)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(example: T) -> None:
        found.append(example)

    with _no_folder_left():
        collect()
    return found


@contextmanager
def _no_folder_left() -> Iterator[None]:
    """What Hypothesis keeps of the modules it meets goes with the draws, not into `.hypothesis`.

    It would make that folder wherever a user's shell stands. His own tests keep theirs.
    """
    before = getattr(configuration, "__hypothesis_home_directory", None)
    with TemporaryDirectory(prefix="dpassay-") as folder:
        configuration.set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            configuration.set_hypothesis_home_dir(before)


@lru_cache(maxsize=64)
def drawn_votes(
    classes: int, least: int, most: int, count: int, seed_: int
) -> tuple[tuple[int, ...], ...]:
    """`examples` of histograms with `least` to `most` votes; plans of one seed share them."""
    total = least if least == most else st.integers(least, most)
    return tuple(
        tuple(votes.tolist()) for votes in examples(histograms(classes, total), count, seed_)
    )
