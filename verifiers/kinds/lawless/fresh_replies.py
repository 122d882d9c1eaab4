"""`fresh-noise` without a law: whether replies to the same calls come again after a restart."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...findings.finding import Finding
from ...findings.note import Note
from ...run.checks import EvidenceCheck
from ...run.earned import HOPELESS
from ...run.restarts import OPENINGS
from .claim import AnyClaim
from .features import parts

OPENS_WITH = 20
"""Calls of one input that open a run, and each start that is compared with it."""

RESTARTED = OPENINGS * OPENS_WITH
"""Calls of all openings after restarts."""

_AT_THE_START = Note(
    "seed-fixed", "a seed fixed at the start of the target: every start repeats its replies"
)


def log_orders(replies: Sequence[str]) -> float:
    """Natural log of the number of orders that replies can have."""
    counts = Counter(replies).values()
    return math.lgamma(len(replies) + 1) - sum(math.lgamma(count + 1) for count in counts)


def without_counters(replies: Sequence[Any], earlier: Sequence[Any]) -> list[str]:
    """Each reply as text, but for numbers that only grow from call to call of the earlier ones.

    Those are times and counts of calls, which may begin anew with every start.
    """
    rows = [dict(parts(reply)) for reply in earlier]
    growing = set()
    for path in rows[0]:
        column = [row.get(path, math.nan) for row in rows]
        if all(a < b for a, b in pairwise(column)):
            growing.add(path)
    if not growing:
        return [json.dumps(reply, sort_keys=True) for reply in replies]
    kept = ([(p, x) for p, x in parts(reply) if p not in growing] for reply in replies)
    return [json.dumps(sorted(part)) for part in kept]


class FreshReplies(EvidenceCheck):
    """Wagers that the first replies after a start are those after another, one by one.

    Where calls are fresh draws of one law, any order of a start's replies to one input is as likely
    as any other, whatever was replied before. So all are as they were, call by call, with
    probability 1 / (the number of orders) at most: a comparison multiplies the evidence by that
    number, or makes it 0. Over the comparisons of a run the evidence is the average over the
    products of all sets of them, none among these, as the first calls of a run need not be the
    first after a start.
    """

    id, unit = "fresh-noise", "draws"
    queries: int = 0

    def __init__(self, claim: AnyClaim) -> None:
        self.claim = claim
        self._logs: list[float] = []
        self._could: list[float] = []
        self._again = 0

    def compare(self, earlier: Sequence[Any], now: Sequence[Any]) -> None:
        """Compares the replies to the first calls of two starts."""
        before, after = (without_counters(replies, earlier) for replies in (earlier, now))
        orders = log_orders(before)
        self._could.append(orders)
        self._logs.append(orders if before == after else -math.inf)
        self._again += before == after
        self.queries += len(now)

    @property
    def log_e_value(self) -> float:
        return _average(self._logs)

    def samples_needed(self) -> int:
        """None is needed once starts were compared."""
        return 0 if self._logs else RESTARTED

    def judge_power(self) -> None:
        """Says that the check does not apply where replies hardly differ: none could have shown."""
        if self._logs and _average(self._could) < self.log_threshold:
            message = "replies to one input hardly differ, so that none would be known again"
            self.not_applicable = Note(HOPELESS, message)

    def fail_finding(self) -> Finding:
        message = (
            f"after a restart the first {OPENS_WITH} replies were those before it, one by one, in "
            f"{self._again} of {len(self._logs)} comparisons"
        )
        seen = {"matches": self._again * OPENS_WITH, "draws": len(self._logs) * OPENS_WITH}
        repeated = "the same calls before a restart"
        return Finding.caused(message, _AT_THE_START, self.log_e_value, repeated=repeated, **seen)

    def pass_finding(self) -> Finding:
        return Finding(f"after a restart the first {OPENS_WITH} replies were not those before it")


def _average(logs: Sequence[float]) -> float:
    """Over the products of all sets of comparisons, which is the product of (1 + each) / 2."""
    return sum(float(np.logaddexp(0.0, log)) - math.log(2.0) for log in logs)
