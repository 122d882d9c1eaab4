"""Which faults a run would have shown: they are put into the reference's own replies."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .evidence import FIRST, next_units
from .statistics import Inputs, Middles, Numbers, earlier_calls
from .units import Evidence, Units

HALF = "half the noise"
"""The fault that a pass must have shown, of replies that are not of few kinds."""

_SCALES = {HALF: 0.5, "noise of .9": 0.9, "noise of .95": 0.95}
_GROWN = 5.0  # nats of evidence from which it is foreseen how much more shows a fault
_ROOM = 1.25  # times as many as evidence that grew evenly would take
_OFFSETS = {"an offset of a fifth of the spread": 0.2, "of a tenth": 0.1}
_REPEATS = {"one reply in ten that is the one before": 0.1, "one in a hundred": 0.01}
_OTHERS = {"one reply in ten drawn from all kinds alike": 0.1, "one in a hundred so": 0.01}


@dataclass(frozen=True)
class Shown:
    """A fault, in words, and the units that showed it; None where these do not.

    enough: about how many units would, by what the evidence came to; None where it is not foreseen.
    changes: whether it changes any of these replies, as less noise of rounded ones may not.
    """

    fault: str
    units: int | None
    enough: int | None = None
    changes: bool = True


def shown_faults(units: Units, wanted: float, rng: np.random.Generator) -> list[Shown]:
    """By the replies of a run, and the same learners; wanted: evidence that refutes, natural log.

    The reference's replies stand against others of its own to the same requests, drawn anew from
    all that there are, into which a fault is put. Of one kind the larger is looked for first. Of
    single calls those that it answered: before a budget is spent they are not as after it. None are
    told where these are few, or where others of its own can be told from them without a fault.
    """
    answered = (units.numbers[:, 1, :, -1] == 0.0).all(-1) | (units.inputs.shape[1] > 1)
    inputs, own = units.inputs[answered], units.numbers[answered, 1]
    names = units.names[answered, 1]
    if len(inputs) < FIRST:
        return []
    source = np.arange(len(inputs))
    requests = np.unique(inputs, axis=0, return_inverse=True)[1].ravel()
    for one in range(requests.max() + 1):
        source[requests == one] = rng.permutation(np.flatnonzero(requests == one))
    drawn = own[source]

    def looked_for(fault: str, made: Numbers, named: Inputs) -> Shown:
        pairs, both = np.stack([made, own], axis=1), np.stack([named, names], axis=1)
        return _looked_for(fault, pairs, inputs, both, wanted)

    if looked_for("none", drawn, names[source]).units is not None:
        return []
    found: list[Shown] = []
    for kind in _kinds(drawn, names[source], inputs, rng):
        hidden = False
        for fault, (made, named) in kind:
            each = Shown(fault, None, changes=not np.array_equal(made, drawn))
            if each.changes and not hidden:
                each = looked_for(fault, made, named)
            hidden = each.units is None
            found.append(each)
    return found


Made = tuple[str, tuple[Numbers, Inputs]]


def _kinds(
    faulty: Numbers, names: Inputs, inputs: Inputs, rng: np.random.Generator
) -> Iterator[Iterator[Made]]:
    """Of each kind of fault the replies (n, calls, f) with it, and their names (n, calls)."""
    if not names.size:
        both = np.stack([faulty, faulty], axis=1)
        middles = Middles.of(both, inputs, int(inputs.max()) + 1)
        middle = middles.middle[inputs]
        whole = np.all(faulty == np.rint(faulty), axis=(0, 1))
        whole[-1] = True

        def moved(scale: float, offset: float) -> tuple[Numbers, Inputs]:
            made = middle + scale * (faulty - middle) + offset * middles.spread
            made = np.where(whole, np.rint(made), made)
            made[..., -1] = faulty[..., -1]
            return made, names

        yield ((fault, moved(scale, 0.0)) for fault, scale in _SCALES.items())
        yield ((fault, moved(1.0, offset)) for fault, offset in _OFFSETS.items())
    flat, of = faulty.reshape(-1, faulty.shape[-1]), inputs.ravel()

    def from_others(source: Inputs) -> tuple[Numbers, Inputs]:
        """Calls with the replies to others, by their places in order."""
        named = names.reshape(len(flat), -1)[source].reshape(names.shape)
        return flat[source].reshape(faulty.shape), named

    yield ((fault, from_others(_again(of, share, rng))) for fault, share in _REPEATS.items())
    if names.size:
        yield ((f, from_others(_others(flat, of, share, rng))) for f, share in _OTHERS.items())


def _again(inputs: Inputs, share: float, rng: np.random.Generator) -> Inputs:
    """Each call with this probability has the reply to the same input before it, in all calls."""
    source, before = np.arange(len(inputs)), earlier_calls(inputs)[0]
    for place in np.flatnonzero((before >= 0) & (rng.random(len(source)) < share)):
        source[place] = source[before[place]]
    return source


def _others(flat: Numbers, inputs: Inputs, share: float, rng: np.random.Generator) -> Inputs:
    """Each call with this probability has one of the replies to its input, all equally likely."""
    source, drawn = np.arange(len(flat)), rng.random(len(flat)) < share
    for one in np.unique(inputs):
        there = np.flatnonzero(inputs == one)
        kinds = there[np.unique(flat[there], axis=0, return_index=True)[1]]
        source[there[drawn[there]]] = rng.choice(kinds, int(drawn[there].sum()))
    return source


def _looked_for(fault: str, pairs: Numbers, inputs: Inputs, names: Inputs, wanted: float) -> Shown:
    """After how many units the evidence refutes, or about how many would."""
    evidence = Evidence(int(inputs.max()) + 1, apart=inputs.shape[1] == 1)
    done = 0
    while done < len(pairs):
        done = min(len(pairs), done + next_units(done))
        evidence.observe(pairs[:done], inputs[:done], names[:done])
        if evidence.log_e_value >= wanted:
            return Shown(fault, done)
    grown = evidence.log_e_value
    return Shown(fault, None, math.ceil(_ROOM * done * wanted / grown) if grown > _GROWN else None)
