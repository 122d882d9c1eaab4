"""The checks of samplers: what refutes each, and what it says."""

import math

import numpy as np

from ....reference.batches import Draws
from ...findings.finding import Finding
from ...run.checks import Judged
from ...run.error_budget import log_threshold
from . import subsets
from .claim import BatchesClaim
from .registry import CHECKS
from .sizes import AGAIN, RATE
from .wagers import LOWER, TILTS, Wagers
from .watch import Watch

WANTED = 2_000
"""Batches of a pass, unless others are asked for."""

SHUFFLED = (
    "records that have come wait until others have: data are shuffled or taken in turn, not drawn "
    "anew for each batch"
)


class BatchCheck(Judged):
    """One aspect of the batches: proven wrong, refuted by wagers, or neither."""

    id, unit = "", "batches"
    passed = ""

    def __init__(self, claim: BatchesClaim, watch: Watch, wanted: int) -> None:
        self.claim, self.watch, self.wanted = claim, watch, wanted
        self.log_threshold = log_threshold(CHECKS.shares[self.id], claim.gate.false_alarm)

    @property
    def wagers(self) -> Wagers | None:
        """Those on this aspect; None where it is proven or not."""
        return None

    @property
    def queries(self) -> int:
        """See `Check.queries`."""
        return self.watch.seen

    @property
    def log_e_value(self) -> float:
        """See `Check.log_e_value`: infinite once it is proven wrong."""
        if self.id in self.watch.proofs:
            return math.inf
        return 0.0 if self.wagers is None else self.wagers.log_e_value

    def samples_needed(self) -> int:
        """See `Check.samples_needed`."""
        return max(0, self.wanted - self.watch.seen)

    def fail_finding(self) -> Finding:
        """See `Check.fail_finding`."""
        if self.id in self.watch.proofs:
            message, cause = self.watch.proofs[self.id]
        else:
            message, cause = self._refuted()
        return Finding(message, cause, log_odds=self.log_e_value, cause=cause)

    def _refuted(self) -> tuple[str, str]:
        raise NotImplementedError

    def pass_finding(self) -> Finding:
        """See `Check.pass_finding`."""
        return Finding(f"{self.watch.seen:,} batches: {self.passed}")


class Repeats(BatchCheck):
    """No record is in a batch twice."""

    id, passed = "repeats", "none has a record twice"


class Coverage(BatchCheck):
    """Each record is in one batch of each epoch."""

    id, passed = "coverage", "each epoch has had each record once"


class BatchSize(BatchCheck):
    """The sizes of batches, and how they follow each other."""

    id = "batch-size"

    @property
    def wagers(self) -> Wagers | None:
        """See `BatchCheck.wagers`."""
        return None if self.watch.sizes is None else self.watch.sizes.wagers

    @property
    def passed(self) -> str:  # type: ignore[override]
        """What a pass says."""
        if self.watch.sizes is None:
            return "each has as many records as the claim says"
        return f"{self._seen()}, and the claim leads to {self._expected()}"

    def _seen(self) -> str:
        sizes = self.watch.sizes
        assert sizes is not None
        of = np.array(sizes.sizes)
        return f"they have {of.mean():.4g} records in the mean, from {of.min():,} to {of.max():,}"

    def _expected(self) -> str:
        law = self.watch.of
        mean = law.records * law.rate
        return f"{mean:.4g}, with a deviation of {math.sqrt(mean * (1 - law.rate)):.3g}"

    def _refuted(self) -> tuple[str, str]:
        sizes = self.watch.sizes
        assert sizes is not None
        likeliest = sizes.wagers.likeliest
        cause = likeliest
        if likeliest == RATE:
            cause = f"the rate is about {self.watch.rate:.4g}, not {self.watch.of.rate:.4g}"
        elif likeliest == AGAIN:
            size, times = sizes.seen.most_common(1)[0]
            fixed = times > 0.9 * self.watch.seen
            often = f"{times:,} of {self.watch.seen:,} batches have {size:,} records"
            cause = f"batches have a fixed size, {size:,}" if fixed else often
        message = (
            f"of {self.watch.seen:,} batches {self._seen()}; the claim says {self._expected()}"
        )
        return message, cause


class Inclusion(BatchCheck):
    """Whether each record comes as often as any other."""

    id, passed = "inclusion", "no records come more often, or earlier, than others"

    @property
    def wagers(self) -> Wagers:
        """See `BatchCheck.wagers`."""
        return self.watch.inclusion.wagers

    def _refuted(self) -> tuple[str, str]:
        counts, cause = self.watch.history.counts, self.wagers.likeliest
        never = int(np.count_nonzero(counts == 0))
        message = (
            f"in {self.watch.seen:,} batches of {self.watch.of.records:,} records one comes "
            f"{counts.mean():.4g} times in the mean, from {counts.min():,} to {counts.max():,}, "
            f"and {never:,} never"
        )
        return message, cause


class Independence(BatchCheck):
    """Whether batches depend on each other, or the records of a batch."""

    id, passed = "independence", "no batch depends on those before it, and no records on others"

    @property
    def wagers(self) -> Wagers:
        """See `BatchCheck.wagers`."""
        return self.watch.dependence.wagers

    def _refuted(self) -> tuple[str, str]:
        of, likeliest = self.watch.dependence, self.wagers.likeliest
        fewer = self.wagers.best(likeliest) % TILTS < LOWER.stop
        cause = likeliest
        if likeliest == subsets.SINCE:
            again = "batches have records of those before them again"
            cause = SHUFFLED if fewer else again
        elif likeliest == subsets.COPIED and of.copies.found is not None:
            later, earlier = of.copies.found
            seeded = ", as where a generator is set anew" if later > earlier + 1 else ""
            cause = f"batch {later:,} is batch {earlier:,} again{seeded}"
        elif likeliest == subsets.PAIRED and of.pairs.likeliest is not None:
            one, other = of.pairs.likeliest
            cause = f"records {one} and {other} are in the same batches"
        elif likeliest == subsets.BLOCKS and fewer:
            cause = subsets.BLOCKS
        elif likeliest == subsets.BLOCKS:
            cause = "records with numbers beside each other avoid each other"
        return f"{self.watch.seen:,} batches are not independent: {likeliest}", cause


def made_checks(claim: BatchesClaim, watch: Watch, wanted: int) -> list[BatchCheck]:
    """The checks that gather evidence, of those that the claim has room for."""
    kinds: list[type[BatchCheck]] = [Repeats, Coverage, BatchSize, Inclusion, Independence]
    return [one(claim, watch, wanted) for one in kinds if one.id not in lacking(claim)]


def lacking(claim: BatchesClaim) -> dict[str, str]:
    """Check id -> why a claim leaves no room for it."""
    found = {}
    if claim.mechanism.batches.how is not Draws.SHUFFLE:
        found["coverage"] = "records need not come once an epoch by the claim"
    if claim.privacy is None:
        found["privacy-claim"] = "the claim has no [privacy]"
    return found
