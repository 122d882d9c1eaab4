"""Which faults a run would have shown: they are put into the reference's own replies."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .evidence import next_units
from .statistics import Inputs, Middles, Numbers, earlier_calls
from .units import Evidence, Units

_SCALES = {"half the noise": 0.5, "noise of .9": 0.9, "noise of .95": 0.95}
_OFFSETS = {"an offset of a fifth of the spread": 0.2, "of a tenth": 0.1}
_REPEATS = {"one reply in ten that comes again": 0.1, "one in a hundred": 0.01}
_OTHERS = {"one reply in ten drawn from all kinds alike": 0.1, "one in a hundred so": 0.01}


@dataclass(frozen=True)
class Shown:
    """A fault, in words, and the units that showed it; None where these do not."""

    fault: str
    units: int | None


def shown_faults(units: Units, wanted: float, rng: np.random.Generator) -> list[Shown]:
    """By the replies of a run, and the same learners; wanted: evidence that refutes, natural log.

    The reference's replies stand against others of its own to the same requests, drawn anew from
    all that there are, into which a fault is put. Of one kind the larger is looked for first.
    """
    inputs, own = units.inputs, units.numbers[:, 1]
    source = np.arange(len(inputs))
    requests = np.unique(inputs, axis=0, return_inverse=True)[1].ravel()
    for one in range(requests.max() + 1):
        source[requests == one] = rng.permutation(np.flatnonzero(requests == one))
    faulty = own[source]
    drawn = zip(source, units.names, strict=True)
    names = [(units.names[place][1], both[1]) for place, both in drawn]
    found: list[Shown] = []
    for kind in _kinds(units, faulty, inputs, names, rng):
        seen: int | None = 0
        for fault, (made, named) in kind:
            if seen is not None:
                pairs = np.stack([made, own], axis=1)
                seen = _units_until(pairs, inputs, named, wanted)
            found.append(Shown(fault, seen))
    return found


Made = tuple[str, tuple[Numbers, list[Any]]]


def _kinds(
    units: Units, faulty: Numbers, inputs: Inputs, names: list[Any], rng: np.random.Generator
) -> Iterator[Iterator[Made]]:
    """Of each kind of fault the replies (n, calls, f) with it, and their names."""
    if not units.few:
        both = np.stack([faulty, faulty], axis=1)
        middles = Middles.of(both, inputs, int(inputs.max()) + 1)
        middle = middles.middle[inputs]
        whole = np.all(faulty == np.rint(faulty), axis=(0, 1))
        whole[-1] = True

        def moved(scale: float, offset: float) -> tuple[Numbers, list[Any]]:
            made = middle + scale * (faulty - middle) + offset * middles.spread
            made = np.where(whole, np.rint(made), made)
            made[..., -1] = faulty[..., -1]
            return made, names

        yield ((fault, moved(scale, 0.0)) for fault, scale in _SCALES.items())
        yield ((fault, moved(1.0, offset)) for fault, offset in _OFFSETS.items())
    yield ((fault, _again(faulty, inputs, names, share, rng)) for fault, share in _REPEATS.items())
    if units.few:
        yield (
            (fault, _others(faulty, inputs, names, share, rng)) for fault, share in _OTHERS.items()
        )


def _again(
    faulty: Numbers, inputs: Inputs, names: list[Any], share: float, rng: np.random.Generator
) -> tuple[Numbers, list[Any]]:
    """Each call with this probability has the reply to the same input before it, in all calls."""
    calls = faulty.shape[1]
    flat, source = faulty.reshape(-1, faulty.shape[-1]), np.arange(faulty.shape[0] * calls)
    before = earlier_calls(inputs.ravel())[0]
    for place in np.flatnonzero((before >= 0) & (rng.random(len(source)) < share)):
        source[place] = source[before[place]]
    return flat[source].reshape(faulty.shape), _renamed(names, source, calls)


def _others(
    faulty: Numbers, inputs: Inputs, names: list[Any], share: float, rng: np.random.Generator
) -> tuple[Numbers, list[Any]]:
    """Each call with this probability has one of the replies to its input, all equally likely."""
    calls = faulty.shape[1]
    flat, source = faulty.reshape(-1, faulty.shape[-1]), np.arange(faulty.shape[0] * calls)
    drawn = rng.random(len(source)) < share
    for one in np.unique(inputs):
        there = np.flatnonzero(inputs.ravel() == one)
        kinds = there[np.unique(flat[there], axis=0, return_index=True)[1]]
        source[there[drawn[there]]] = rng.choice(kinds, int(drawn[there].sum()))
    return flat[source].reshape(faulty.shape), _renamed(names, source, calls)


def _renamed(names: list[Any], source: NDArray[np.int64], calls: int) -> list[Any]:
    flat = [name for faulty, _ in names for name in faulty]
    if not flat:
        return names
    made = [flat[place] for place in source]
    return [
        (tuple(made[start : start + calls]), own)
        for start, (_, own) in zip(range(0, len(made), calls), names, strict=True)
    ]


def _units_until(pairs: Numbers, inputs: Inputs, names: list[Any], wanted: float) -> int | None:
    """After how many units the evidence refutes; None where it does not."""
    evidence = Evidence(int(inputs.max()) + 1, apart=inputs.shape[1] == 1)
    done = 0
    while done < len(pairs):
        done = min(len(pairs), done + next_units(done))
        evidence.observe(pairs[:done], inputs[:done], names[:done])
        if evidence.log_e_value >= wanted:
            return done
    return None
