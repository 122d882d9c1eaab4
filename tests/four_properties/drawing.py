"""Histograms and noise as deployments have them, for the four properties of the design card."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase

from dpassay.reference import Exponential, Gaussian, Gumbel, Laplace, Noise
from dpassay.verifiers.strategies import histograms

FAMILIES = (Gaussian, Laplace, Gumbel, Exponential)

USUAL = (40.0, 100.0, 150.0)
"""Scales of the papers."""

Test = TypeVar("Test", bound=Callable[..., Any])


CLASSES = st.integers(2, 8) | st.integers(9, 20)
TEACHERS = st.integers(30, 500) | st.integers(2, 30) | st.integers(500, 10_000)


@st.composite
def deployments(
    draw: st.DrawFn,
    family: type[Noise],
    classes: st.SearchStrategy[int] = CLASSES,
    teachers: st.SearchStrategy[int] = TEACHERS,
) -> tuple[list[int], Noise]:
    """Votes of 2 to 20 classes and 2 to 10,000 teachers, and noise of a family.

    Scales go from a tenth of the gap between the two largest counts to ten times all votes.
    """
    votes = draw(histograms(classes, teachers))
    second, first = np.sort(votes)[-2:]
    least, most = max(int(first - second), 1) / 10, 10.0 * int(votes.sum())
    share = draw(st.floats(0.0, 1.0))
    between = float(f"{math.exp(math.log(least) * (1 - share) + math.log(most) * share):.3g}")
    return votes.tolist(), family(draw(st.sampled_from([between, *USUAL, between])))


def exact(quick: int, whole: int) -> Callable[[Test], Test]:
    """Settings of a property that holds exactly, so that no draw may break it.

    The quick suite tries the same `quick` examples each time. The whole one draws `whole` new ones
    on every run, and keeps those that fail in .hypothesis, where the next run begins with them.
    """
    if settings.default == settings.get_profile("quick"):
        return settings(max_examples=quick)
    kept = Path(__file__).parents[2] / ".hypothesis" / "examples"
    return settings(
        max_examples=whole,
        derandomize=False,
        database=DirectoryBasedExampleDatabase(kept),
        print_blob=True,
    )
