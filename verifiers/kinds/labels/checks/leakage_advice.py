"""Mitigations of leakage, simulated for the claim.

The attacks are those of `histogram-leakage`, on the histogram that leaks most. These means over few
attacks help to choose, and do not enter the verdict.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from .....attacks import Answers, misplaced, reconstruct
from .....reference import Noise
from .....reference.accounting.analyses import CountedCost, release_costs
from .....reference.accounting.conversions import ORDERS, most_repeats
from ....findings.figures import Mitigation
from ..claim import LabelsClaim
from ..mechanism import LabelsMechanism

_TOLD = (10, 100, 1000)  # limits that the advice names
_COARSE = (1, *_TOLD)
_FINE = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)  # where a limit within max_recoverable is sought
_OTHER = (0.5, 2.0)  # noise scales that are tried, over the claimed one
_SURE = 3.0  # standard errors below max_recoverable that an advised limit keeps
_ATTACKS, _FEWEST = 20, 5  # attacks simulated under each: most, and least
_WORK = 4e7  # most attacks times the cube of the classes: about a second
_DELTA = 1e-5  # where the claim has none
_MOST = 10**9  # queries under other noise from which it is not proposed
_FEWEST_SCALES = 0.02  # least noise scale over the votes that is proposed: below, fits take long


def mitigations(
    claim: LabelsClaim, histogram: Sequence[int], asked: int, rng: np.random.Generator
) -> tuple[Mitigation, ...]:
    """The mean share of a histogram (c,) that an attacker recovers under each mitigation.

    They are limits on the answers to one input (where answers are kept, to near-duplicates), and
    other noise with as many queries as cost the same epsilon by the data-independent analysis.
    Empty where many classes make simulation slow.
    """
    own = claim.mechanism
    rows = _WORK / own.classes**3
    fine = rows / (len(_FINE) + len(_OTHER)) >= _FEWEST and claim.gate.max_recoverable > 0
    numbers = _FINE if fine else _COARSE
    attacks = min(int(rows / (len(numbers) + len(_OTHER))), _ATTACKS)
    if attacks < _FEWEST:
        return ()
    attacked = _MitigatedAttacks(own, histogram, attacks, rng)
    plain = own.noise.unrounded  # which moves what is recovered by next to nothing
    if own.caching:
        return attacked.under("near-duplicates", plain, numbers)
    found = attacked.under("query-limit", plain, [n for n in numbers if n < asked])
    for noise in (plain.times(times) for times in _OTHER):
        queries = _for_the_same(claim, noise, asked)
        if noise.scale >= _FEWEST_SCALES * own.teachers and 0 < queries < _MOST:
            found += attacked.under("other-noise", noise, [queries])
    return found


def advice(claim: LabelsClaim, found: Sequence[Mitigation], guessed: float) -> tuple[str, ...]:
    """The mitigations in up to three lines; guessed: share right if votes are guessed even."""
    limits = [one for one in found if one.kind != "other-noise"]
    others = [one for one in found if one.kind == "other-noise"]
    lines = []
    if claim.mechanism.caching and limits:
        lines.append(
            "answers are kept for identical inputs only; of near-duplicates, which are answered "
            f"anew, {_leaving(limits)}"
        )
    elif limits:
        lines.append(
            "kept answers (caching = true) leave an attacker one query per input, which recovers "
            f"{_percent(limits[0].recovered)} "
            f"({'no gain: ' if limits[0].recovered <= guessed else ''}guessing even votes recovers "
            f"{_percent(guessed)}); near-duplicates of an input get around it"
        )
        lines += _limit_line(limits, claim.gate.max_recoverable)
    if others:
        message = " and ".join(
            f"{one.noise} with {one.queries:,} queries gives {_percent(one.recovered)}"
            for one in others
        )
        lines.append(f"at the same epsilon {message}")
    return tuple(lines)


def _limit_line(limits: Sequence[Mitigation], most: float) -> list[str]:
    """The line on limits of queries per input, with the largest within `max_recoverable`."""
    advice = [_leaving(limits)] if _leaving(limits) else []
    if most > 0:
        within = list(takewhile(lambda one: one.recovered + _SURE * one.error <= most, limits))
        keeps = f"{within[-1].queries:,} keep within" if within else "even 1 may give more than"
        advice.append(f"{keeps} max_recoverable = {most:g}")
    return [f"with a limit on queries per input, {'; '.join(advice)}"] if advice else []


def _leaving(limits: Sequence[Mitigation]) -> str:
    return ", ".join(
        f"{one.queries:,} give {_percent(one.recovered)}" for one in limits if one.queries in _TOLD
    )


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f} %"


def _for_the_same(claim: LabelsClaim, noise: Noise, queries: int) -> int:
    """How many queries under other noise cost no more than `queries` claimed ones, if answered."""
    delta = _DELTA if claim.privacy is None else claim.privacy.delta
    near = claim.mechanism.neighbourhood
    epsilon = CountedCost(claim.mechanism.mechanism(), near).epsilon(queries, 0, delta)
    test, answer = release_costs(claim.mechanism.mechanism(noise), ORDERS, near)
    return most_repeats(test + answer, delta, epsilon, _MOST)


@dataclass(frozen=True)
class _MitigatedAttacks:
    """A histogram (c,) under a claim, and how many attacks on it are simulated."""

    own: LabelsMechanism
    histogram: Sequence[int]
    attacks: int
    rng: np.random.Generator

    def under(self, kind: str, noise: Noise, queries: Sequence[int]) -> tuple[Mitigation, ...]:
        """The share recovered for each number of answers, under `noise`."""
        if not queries:
            return ()
        mechanism = self.own.mechanism(noise)
        law = np.exp(mechanism.log_probabilities(np.array(self.histogram, dtype=np.float64)))
        law /= law.sum()
        # each attacker gets its earlier answers and some more: numbers differ by these alone
        more = np.diff(queries, prepend=0)
        drawn = np.cumsum([self.rng.multinomial(n, law, size=self.attacks) for n in more], axis=0)
        answers = Answers(np.concatenate(drawn).astype(np.float64), mechanism)
        read = reconstruct(answers, sum(self.histogram)).histogram
        shares = 1.0 - misplaced(read, self.histogram).reshape(len(queries), -1)
        errors = shares.std(1, ddof=1) / np.sqrt(self.attacks)
        return tuple(
            Mitigation(
                kind=kind,
                queries=n,
                noise=str(noise),
                recovered=float(share),
                attacks=self.attacks,
                error=float(error),
            )
            for n, share, error in zip(queries, shares.mean(1), errors, strict=True)
        )
