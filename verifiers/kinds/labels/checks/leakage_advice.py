"""What a deployment could do against leakage, simulated for the claim at hand.

The attacks are those of `histogram-leakage`, on the histogram that it read best. Nothing here
decides a verdict: these are means over few attacks, to choose by.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from .....attacks import Answers, misplaced, reconstruct
from .....reference import Noise
from .....reference.accounting.conversions import ORDERS, most_repeats
from .....reference.accounting.release_costs import CountedCost, release_costs
from ..claim import LabelsClaim
from ..figures import Mitigation
from ..mechanism import LabelsMechanism

_TOLD = (10, 100, 1000)  # limits that the lines name
_COARSE = (1, *_TOLD)
_FINE = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)  # where one is looked for
_OTHER = (0.5, 2.0)  # times the claimed noise
_ATTACKS, _FEWEST = 20, 5  # simulated under each
_WORK = 4e7  # attacks times the cube of the classes: about a second
_DELTA = 1e-5  # where the claim names none
_MOST = 10**9  # queries at other noise that are looked for
_FEWEST_SCALES = 0.02  # of the votes: smaller noise is not proposed, as fits take long there


def mitigations(
    claim: LabelsClaim, histogram: Sequence[int], asked: int, rng: np.random.Generator
) -> tuple[Mitigation, ...]:
    """What the attacker recovers on average of a histogram under each of them.

    A limit on the answers to one input, from one, as where answers are kept, to what the claim
    allows; other noise, with as many queries as then cost the same epsilon, data-independent.
    Where answers are kept, the limits are of near-duplicates that are answered anew. With so many
    classes that simulation takes long, nothing.
    """
    own = claim.mechanism
    rows = _WORK / own.classes**3
    fine = rows / (len(_FINE) + len(_OTHER)) >= _FEWEST and claim.gate.max_recoverable > 0
    numbers = _FINE if fine else _COARSE
    attacks = min(int(rows / (len(numbers) + len(_OTHER))), _ATTACKS)
    if attacks < _FEWEST:
        return ()
    attacked = _Attacked(own, histogram, attacks, rng)
    if own.caching:
        return attacked.under("near-duplicates", own.noise, numbers)
    found = attacked.under("query-limit", own.noise, [n for n in numbers if n < asked])
    for noise in (own.noise.times(times) for times in _OTHER):
        queries = _for_the_same(claim, noise, asked)
        if noise.scale >= _FEWEST_SCALES * own.teachers and 0 < queries < _MOST:
            found += attacked.under("other-noise", noise, [queries])
    return found


def advice(claim: LabelsClaim, found: Sequence[Mitigation], guessed: float) -> tuple[str, ...]:
    """The same in three lines at most; guessed: the share that even votes have right."""
    limits = [one for one in found if one.kind != "other-noise"]
    others = [one for one in found if one.kind == "other-noise"]
    lines = []
    if claim.mechanism.caching and limits:
        lines.append(
            "answers are kept for identical inputs alone: of near-duplicates, answered anew, "
            f"{_leaving(limits)}"
        )
    elif limits:
        lines.append(
            "kept answers (caching = true) leave an attacker one query an input, and "
            f"{_percent(limits[0].recovered)} (even votes, guessed, are {_percent(guessed)} "
            "right); near-duplicates of an input get around it"
        )
        lines += _limit_line(limits, claim.gate.max_recoverable)
    if others:
        told = " and ".join(
            f"{one.noise} with {one.queries:,} queries leaves {_percent(one.recovered)}"
            for one in others
        )
        lines.append(f"at the same epsilon {told}")
    return tuple(lines)


def _limit_line(limits: Sequence[Mitigation], most: float) -> list[str]:
    """What limits leave, and the largest below which all keep to `max_recoverable`."""
    told = [_leaving(limits)] if _leaving(limits) else []
    if most > 0:
        within = list(takewhile(lambda one: one.recovered <= most, limits))
        keeps = f"{within[-1].queries:,} keep within" if within else "even 1 leaves more than"
        told.append(f"{keeps} max_recoverable = {most:g}")
    return [f"of a limit of queries per input, {'; '.join(told)}"] if told else []


def _leaving(limits: Sequence[Mitigation]) -> str:
    return ", ".join(
        f"{one.queries:,} leave {_percent(one.recovered)}" for one in limits if one.queries in _TOLD
    )


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f} %"


def _for_the_same(claim: LabelsClaim, noise: Noise, queries: int) -> int:
    """How many queries at other noise cost no more than the claim's, all of them answered."""
    delta = _DELTA if claim.privacy is None else claim.privacy.delta
    epsilon = CountedCost(claim.mechanism.mechanism()).epsilon(queries, 0, delta)
    test, answer = release_costs(claim.mechanism.mechanism(noise), ORDERS)
    return most_repeats(test + answer, delta, epsilon, _MOST)


@dataclass(frozen=True)
class _Attacked:
    """A histogram under a claim, attacked so many times, side by side."""

    own: LabelsMechanism
    histogram: Sequence[int]
    attacks: int
    rng: np.random.Generator

    def under(self, kind: str, noise: Noise, queries: Sequence[int]) -> tuple[Mitigation, ...]:
        """What each number of answers gives, with this noise."""
        if not queries:
            return ()
        mechanism = self.own.mechanism(noise)
        law = np.exp(mechanism.log_probabilities(np.array(self.histogram, dtype=np.float64)))
        law /= law.sum()
        drawn = [self.rng.multinomial(n, law, size=self.attacks) for n in queries]
        answers = Answers(np.concatenate(drawn).astype(np.float64), mechanism)
        read = reconstruct(answers, sum(self.histogram)).histogram
        shares = 1.0 - misplaced(read, self.histogram).reshape(len(queries), -1).mean(1)
        return tuple(
            Mitigation(kind, n, str(noise), float(share), self.attacks)
            for n, share in zip(queries, shares, strict=True)
        )
