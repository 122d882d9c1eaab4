"""The checks of samplers: what refutes each, and what it says."""

import math

import numpy as np

from ....reference.batches import BatchDraws
from ...findings.excluded import SURE_TO_SEE
from ...findings.finding import Finding
from ...findings.note import Fields, Note
from ...run.checks import EvidenceCheck, Reason
from . import shown, subsets
from .claim import BatchesClaim
from .registry import CHECKS
from .sizes import AGAIN, DRIFT, EVEN, MISSING, RATE
from .wagers import LOWER, TILTS, Wagers
from .watch import Watch

WANTED = 2_000
"""Batches of a pass, unless others are asked for."""

_CODES = {
    RATE: "sampling-rate-differs",
    DRIFT: "sampling-rate-drifts",
    EVEN: "batch-size-spread-differs",
    MISSING: "batch-sizes-missing",
    subsets.NUMBERED: "draws-follow-numbers",
    subsets.ENDS: "end-record-rate-differs",
    subsets.NEVER: "records-never-drawn",
    subsets.OFTEN: "records-drawn-too-often",
    subsets.SINGLE: "records-drawn-too-often",
    subsets.EARLIER: "epoch-order-kept",
    subsets.WAITED: "waits-cut-short",
    subsets.LAGGED: "batch-follows-earlier",
    subsets.COPIED: "batch-repeated",
    subsets.PAIRED: "records-come-together",
}
"""Of what wagers show, where one group of them has one cause."""

_BY_CHANCE = 0.01  # records that have never come in the mean, up to which one is none by chance

SHUFFLED = (
    "records that have come wait until others have: data are shuffled or taken in turn, not drawn "
    "anew for each batch"
)


class BatchCheck(EvidenceCheck):
    """One aspect of the batches: proven wrong, refuted by wagers, or neither."""

    id, unit = "", "batches"
    passed = ""

    def __init__(self, claim: BatchesClaim, watch: Watch, wanted: int) -> None:
        self.claim, self.watch, self.wanted = claim, watch, wanted

    @property
    def wagers(self) -> Wagers | None:
        """Those on this aspect; None where it is proven or not."""
        return None

    @property
    def queries(self) -> int:
        return self.watch.seen

    @property
    def log_e_value(self) -> float:
        """Infinite once it is proven wrong."""
        if self.id in self.watch.proofs:
            return math.inf
        return 0.0 if self.wagers is None else self.wagers.log_e_value

    def samples_needed(self) -> int:
        return max(0, self.wanted - self.watch.seen)

    def fail_finding(self) -> Finding:
        if self.id in self.watch.proofs:
            message, cause = self.watch.proofs[self.id]
        else:
            message, cause = self._refuted()
        return Finding.caused(message, cause, self.log_e_value)

    def _refuted(self) -> tuple[str, Note]:
        """What wagers refute, in words, and why."""
        raise NotImplementedError

    def pass_finding(self) -> Finding:
        excludes = shown.excluded(self.claim, self.id, min(self.wanted, self.watch.seen))
        said = "".join(f"; {shown.WORDS[one.code].format(**one.size)}" for one in excludes)
        sure = f", with probability {SURE_TO_SEE:g} each" if excludes else ""
        return Finding(f"{self.watch.seen:,} batches: {self.passed}{said}{sure}", excludes=excludes)


class Repeats(BatchCheck):
    """No record is in a batch twice."""

    id, passed = "repeats", "none has a record twice"


class Coverage(BatchCheck):
    """Each record is in one batch of each epoch."""

    id, passed = "coverage", "each epoch has had each record once"

    @classmethod
    def not_applicable_to(cls, claim: BatchesClaim) -> Reason:
        if claim.mechanism.batches.how is BatchDraws.SHUFFLE:
            return None
        return Note("not-claimed", "records need not come once an epoch by the claim")


class BatchSize(BatchCheck):
    """The sizes of batches, and how they follow each other."""

    id = "batch-size"

    @property
    def wagers(self) -> Wagers | None:
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

    def _refuted(self) -> tuple[str, Note]:
        sizes = self.watch.sizes
        assert sizes is not None
        message = (
            f"of {self.watch.seen:,} batches {self._seen()}; the claim says {self._expected()}"
        )
        likeliest = sizes.wagers.likeliest
        fields: Fields = {"rate": self.watch.rate, "claimed": self.watch.of.rate}
        cause = likeliest
        if likeliest == RATE:
            cause = f"the rate is about {self.watch.rate:.4g}, not {self.watch.of.rate:.4g}"
        elif likeliest == MISSING:
            cause, fields = sizes.missing()
        elif likeliest == AGAIN:
            size, times = sizes.seen.most_common(1)[0]
            fields = {"size": size, "times": times, "batches": self.watch.seen}
            if times > 0.9 * self.watch.seen:
                fixed = f"batches have a fixed size, {size:,}"
                return message, Note("batch-size-fixed", fixed, fields)
            often = f"{times:,} of {self.watch.seen:,} batches have {size:,} records"
            return message, Note("batch-sizes-repeat", often, fields)
        return message, Note(_CODES[likeliest], cause, fields)


class Inclusion(BatchCheck):
    """Whether each record comes as often as any other."""

    id = "inclusion"

    @property
    def passed(self) -> str:  # type: ignore[override]
        """What a pass says."""
        seen = "no records were seen to come more often, or earlier, than others: by their numbers,"
        if self.watch.history.shuffles:
            return f"{seen} and by how early they came in earlier epochs"
        return f"{seen} of those that had come most, and each by itself"

    @property
    def wagers(self) -> Wagers:
        return self.watch.inclusion.wagers

    def _refuted(self) -> tuple[str, Note]:
        counts, cause = self.watch.history.counts, self.wagers.likeliest
        never = int(np.count_nonzero(counts == 0))
        message = (
            f"in {self.watch.seen:,} batches of {self.watch.of.records:,} records one comes "
            f"{counts.mean():.4g} times in the mean, from {counts.min():,} to {counts.max():,}, "
            f"and {never:,} never"
        )
        if cause == subsets.ENDS:
            record = self.watch.inclusion.oddest_end
            times = int(counts[record])
            cause = f"record {record:,} is in {times:,} of {self.watch.seen:,} batches"
            found: Fields = {"record": record, "times": times, "expected": float(counts.mean())}
            return message, Note(_CODES[subsets.ENDS], cause, found)
        fields = {"never": never, "least": int(counts.min()), "most": int(counts.max())}
        return message, Note(_CODES[cause], cause, fields)


class BatchIndependence(BatchCheck):
    """Whether batches depend on each other, or the records of a batch."""

    id = "independence"
    passed = (
        "no batch was seen to depend on those before it, by when records came last, by those that "
        "had waited longest, and by batches that come again; and no records on others, as far as "
        "two, or those side by side, show it"
    )

    @property
    def wagers(self) -> Wagers:
        return self.watch.dependence.wagers

    def _refuted(self) -> tuple[str, Note]:
        of, likeliest = self.watch.dependence, self.wagers.likeliest
        fewer = self.wagers.best(likeliest) % TILTS < LOWER.stop
        message = f"{self.watch.seen:,} batches are not independent: {likeliest}"
        if likeliest == subsets.SINCE and fewer:
            return message, Note("shuffled-not-sampled", SHUFFLED)
        if likeliest == subsets.SINCE:
            again = "batches have records of those before them again"
            # the last of its wagers are on all records that have come
            last = self.wagers.best(likeliest) // TILTS == len(subsets.windows(of.history.of.epoch))
            return message, (self._never() if last else None) or Note("records-come-again", again)
        if likeliest == subsets.WAITED and fewer:
            seldom = "records that have waited longest come more seldom than others"
            return message, self._never() or Note("records-come-again", seldom)
        if likeliest == subsets.BLOCKS and fewer:
            return message, Note("neighbours-come-together", likeliest)
        if likeliest == subsets.BLOCKS:
            avoid = "records with numbers beside each other avoid each other"
            message = f"{self.watch.seen:,} batches are not independent: {avoid}"
            return message, Note("neighbours-avoid-each-other", avoid)
        cause, fields = likeliest, {}
        if likeliest == subsets.COPIED and of.copies.found is not None:
            later, earlier = of.copies.found
            seeded = ", as where a generator is set anew" if later > earlier + 1 else ""
            if of.history.shuffles and later - earlier == of.history.of.epoch:
                seeded = (
                    f", that of the epoch before ({later - earlier:,} batches): records are "
                    "shuffled once for all epochs, or a generator is set anew at each"
                )
            cause = f"batch {later:,} is batch {earlier:,} again{seeded}"
            fields = {"batch": later, "earlier": earlier}
        elif likeliest == subsets.PAIRED and of.pairs.likeliest is not None:
            one, other = of.pairs.likeliest
            cause = f"records {one} and {other} are in the same batches"
            fields = {"one": one, "other": other}
        return message, Note(_CODES[likeliest], cause, fields)

    def _never(self) -> Note | None:
        """That some records never come, where by the claim all would have by now."""
        counts, of = self.watch.history.counts, self.watch.of
        never = int(np.count_nonzero(counts == 0))
        if not never or of.records * (1.0 - of.rate) ** self.watch.seen > _BY_CHANCE:
            return None
        fields: Fields = {"never": never, "least": 0, "most": int(counts.max())}
        return Note(_CODES[subsets.NEVER], subsets.NEVER, fields)


def made_checks(claim: BatchesClaim, watch: Watch, wanted: int) -> list[BatchCheck]:
    """The checks that gather evidence, of those that the claim has room for."""
    there = CHECKS.applicable(claim)
    return [one(claim, watch, wanted) for one in there if issubclass(one, BatchCheck)]
