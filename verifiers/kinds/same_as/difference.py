"""What differs most between the replies of two deployments, in words, and on which input."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....reference.arrays import Vector
from .statistics import Inputs, Middles, Numbers, earlier_calls
from .units import Units

_SURE = 5.0  # standard errors from which a difference is named
_UNSEEN = 2.0  # standard errors up to which the other inputs do not show it
_OF_INPUT = 5.0  # natural log of the evidence of one input's units from which it is looked at
_LABELS = 20  # kinds of replies at most that are as labels, which come again by chance
_VALUES = 20  # different numbers of either side that it takes to speak of rounding


class SeenDifference(NamedTuple):
    """A difference in words, how surely it is one, and of which kind and number it is.

    place: of the input that it was seen on; alone: which alone of the inputs shows it.
    """

    of: tuple[str, str]
    score: float
    words: str
    fields: dict[str, Any]
    place: int | None = None
    alone: bool = False


_NONE_SURE = SeenDifference(
    ("", ""),
    0.0,
    "in how often a reply comes, or in how numbers of a reply, or of several, go together",
    {},
)


def told_by(units: Units) -> SeenDifference:
    """What differs most, of all inputs together, or of one of them that alone shows it."""
    middles = Middles.of(units.numbers, units.inputs, int(units.inputs.max()) + 1)

    def seen(rows: NDArray[np.bool_]) -> dict[tuple[str, str], SeenDifference]:
        own = units.numbers[rows], units.inputs[rows]
        return {one.of: one for one in _differences(units, *own, middles)}

    most = _most(seen(np.ones(len(units.inputs), dtype=bool)))
    place = units.evidence.likeliest(_OF_INPUT)
    if place is not None:
        here = units.inputs[:, 0] == place
        there, others = _most(seen(here)), seen(~here)
        alone = _most(others).score < _SURE
        alone = alone and (there.of not in others or others[there.of].score < _UNSEEN)
        if there.score >= _SURE and (alone or most.score < _SURE):
            return there._replace(place=place, alone=alone)
    return most if most.score >= _SURE else _NONE_SURE


def _most(seen: dict[tuple[str, str], SeenDifference]) -> SeenDifference:
    return max(seen.values(), key=lambda one: one.score)


def _differences(
    units: Units, numbers: Numbers, inputs: Inputs, middles: Middles
) -> Iterator[SeenDifference]:
    """Of whether there is an answer, of each number and its spread, and of what comes again."""
    assert units.features is not None
    withheld = numbers[..., -1].mean((0, 2))
    words = f"it withholds {withheld[0]:.3g} of its answers, and the reference {withheld[1]:.3g}"
    yield SeenDifference(
        ("", ""), _score(numbers[..., -1]), words, {"withheld": float(withheld[0])}
    )
    apart = middles.apart(numbers, inputs)[(numbers[..., -1] == 0.0).all((1, 2))]
    for place, path in enumerate(units.features.paths if len(apart) else ()):
        name, column = _name(path), apart[..., place]
        offset = float(column[:, 0].mean() - column[:, 1].mean())
        said = f"`{name}` lies {offset:+.3g} spreads from the reference's"
        yield SeenDifference(
            ("offset", path), _score(column), said, {"number": name, "offset": offset}
        )
        spread = np.abs(column).mean((0, 2))
        factor = float(spread[0] / spread[1]) if spread[1] > 0 else 0.0
        said = f"`{name}` spreads {factor:.3g} times as far as the reference's"
        score = _score(np.abs(column))
        yield SeenDifference(("spread", path), score, said, {"number": name, "factor": factor})
    yield from _again(units.features.paths, numbers, inputs)


def _again(paths: Any, numbers: Numbers, inputs: Inputs) -> Iterator[SeenDifference]:
    """Of whole replies that equal the one before to their input, and of numbers that came before.

    Rounded ones do so by themselves.
    """
    flat, of = numbers.transpose(1, 0, 2, 3).reshape(2, -1, numbers.shape[-1]), inputs.ravel()
    if max(len(np.unique(side, axis=0)) for side in flat) <= _LABELS:
        return

    def by_unit(found: NDArray[np.bool_]) -> Numbers:
        return found.reshape(2, -1, inputs.shape[1]).swapaxes(0, 1).astype(float)

    before, answered = earlier_calls(of)[0], flat[..., -1] == 0.0
    asked = answered & answered[:, before] & (before >= 0)
    equal = asked & (flat == flat[:, before]).all(-1)
    shares = equal.mean(-1)
    words = (
        f"in {shares[0]:.3g} of the calls the reply is the one before to the same input, and in "
        f"{shares[1]:.3g} of the reference's"
    )
    yield SeenDifference(("again", ""), _score(by_unit(equal)), words, {"again": float(shares[0])})
    for place, path in enumerate(paths):
        column, name = flat[..., place], _name(path)
        came = answered & np.stack([_came_before(side, of) for side in column])
        score, shares = _score(by_unit(came)), came.mean(-1)
        steps = _steps([side[there] for side, there in zip(column, answered, strict=True)])
        if steps is not None and min(_kinds(side, of) for side in column) >= _VALUES:
            coarser = int(steps[1] > steps[0])
            rounded = np.rint(column / steps[coarser]) * steps[coarser]
            repeats = by_unit(asked & (rounded == rounded[:, before]))
            more = repeats[:, coarser].mean() > repeats[:, 1 - coarser].mean()
            if not (more and _score(repeats) >= _SURE):  # those that the step explains
                yield SeenDifference(("rounded", path), score, *_rounded(name, steps))
                continue
        who, other = ("target", "reference") if shares[0] > shares[1] else ("reference", "target")
        words = (
            f"`{name}` of the {who}'s replies comes again on the same input more often than the "
            f"{other}'s, as rounded, bounded or bare numbers do (in {shares.max():.3g} of the "
            f"calls, and in {shares.min():.3g})"
        )
        yield SeenDifference(
            ("recurs", path), score, words, {"number": name, "again": float(shares[0])}
        )


def _rounded(name: str, steps: tuple[float, float]) -> tuple[str, dict[str, Any]]:
    """A number of a reply whose steps differ, the target's first."""
    ours, theirs = steps
    who, other = ("target", "reference") if ours > theirs else ("reference", "target")
    step, finer = max(ours, theirs), min(ours, theirs)
    rest = f"to {finer:g}" if finer else "not"
    words = f"{name} of the {who} is rounded to {step:g}, and of the {other} {rest}"
    return words, {"number": name, "step": ours, "step_of_reference": theirs}


def _came_before(values: Vector, of: Inputs) -> NDArray[np.bool_]:
    """Whether each value (n,) has come before to the same input."""
    found = np.ones(len(values), dtype=bool)
    found[np.unique(np.stack([of, values]), axis=1, return_index=True)[1]] = False
    return found


def _kinds(values: Vector, of: Inputs) -> int:
    """How many different values there are, those of each input by themselves."""
    return int((~_came_before(values, of)).sum())


def _name(path: str) -> str:
    """A number of a reply as a user finds it there."""
    return path.split(" ", maxsplit=1)[0].lstrip(".") or "the reply"


def _steps(sides: list[Vector]) -> tuple[float, float] | None:
    """Of both sides the largest power of ten of which all values are multiples; None of equals."""
    ours, theirs = map(_step, sides)
    return None if ours == theirs else (ours, theirs)


def _step(values: Vector) -> float:
    """The largest power of ten, to a thousand, of which all are multiples; 0 where none is."""
    scaled = ((10.0**power, values / 10.0**power) for power in range(3, -7, -1))
    whole = (step for step, times in scaled if np.allclose(times, np.rint(times), 0.0, 1e-6))
    return next(whole, 0.0)


def _score(values: Any) -> float:
    """Standard errors between the sides' means of units (n, 2, calls)."""
    gaps = values[:, 0].mean(-1) - values[:, 1].mean(-1)
    spread = gaps.std() / max(1.0, len(gaps)) ** 0.5
    return float(abs(gaps.mean()) / spread) if spread > 0 else (np.inf if gaps.any() else 0.0)
