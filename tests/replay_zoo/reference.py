"""The reference of a claim with its noise frozen, in this process, which takes no forks."""

import json
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from dpassay.reference.numbers import sample
from dpassay.verifiers.claims.claim import Claim
from dpassay.verifiers.replay.frozen import Ran
from dpassay.verifiers.replay.refusals import judge_of
from dpassay.verifiers.replay.replayed import pairs_of
from dpassay.verifiers.replay.search import Found, search
from dpassay.verifiers.replay.sources import taped_class
from dpassay.verifiers.replay.steps import LineTrace
from dpassay.verifiers.replay.tape import Draw, Tape
from dpassay.verifiers.targets import InProcessTarget

_DRAWN = ["standard_normal", "laplace", "gumbel", "standard_exponential", "geometric", "random"]
_DRAWN += ["poisson", "binomial", "negative_binomial", "normal"]
"""What is on the tape: what else was drawn would be new in each run, and told as that."""

Aggregator = Callable[[Any, int], Any]
Make = Callable[[np.random.Generator], Aggregator]


class FrozenReference:
    """As `FrozenTarget`: runs of the reference of a claim that share their draws.

    make: what runs in its place, by the generator that it draws from.
    """

    def __init__(self, claim: Any, make: Make | None = None) -> None:
        self._make = partial(_answers, claim) if make is None else make
        self._claim, self.runs = claim, 0

    def run(
        self, values: Any, recorded: tuple[Draw, ...] | None = None, *, traced: bool = False
    ) -> Ran:
        """See `FrozenTarget.run`; no lines are followed."""
        self.runs += 1
        tape, release = Tape(recorded), self._claim.release
        rng = taped_class(tape, np.random.Generator, _DRAWN)(np.random.PCG64(self.runs))
        reply = InProcessTarget(self._make(rng), release=release).ask(values, 1)
        tape.finish()
        released = release.shaped(reply, values, 1)
        return Ran(released, tuple(tape.draws), tuple(tape.partings), LineTrace(), ())


def found_of(claim: Claim, pairs: int, seed: int, make: Make | None = None) -> Found:
    """What pairs under a claim show of its reference; make: see `FrozenReference`."""
    target: Any = FrozenReference(claim, make)
    made = islice(pairs_of(claim, seed), pairs)
    return search(target, made, judge_of(target, claim, seed))


def _answers(claim: Any, rng: np.random.Generator) -> Aggregator:
    """What the claimed mechanism releases, of an input in the form of the claim."""
    if claim.kind.name == "numbers":
        return lambda values, size: sample(claim.mechanism.aggregation, values, size, rng)
    mechanism = claim.mechanism.mechanism()
    return lambda given, size: mechanism.sample(_histogram(claim, given), size, rng)


def _histogram(claim: Any, given: Any) -> Any:
    """The votes (c,) of an input in its form, each teacher's by its weight."""
    form = "histogram" if claim.inputs is None else claim.inputs.form
    if form == "histogram":
        return given
    if form == "query":
        return next(row.histogram for row in claim.given if json.loads(row.query) == given)
    votes = given if form == "votes" else given.argmax(1)
    weights = claim.mechanism.weights or ((votes.size, 1),)
    each = np.repeat([weight for _, weight in weights], [number for number, _ in weights])
    counted = np.zeros(claim.mechanism.classes, dtype=np.int64)
    np.add.at(counted, votes, each)  # as many weights as votes, or an error
    return counted
