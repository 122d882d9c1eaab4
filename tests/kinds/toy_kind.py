"""A kind of release in one short file: coins with a claimed bias, judged by one check."""

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from dpassay.verifiers.claims.claim import Claim
from dpassay.verifiers.claims.tables import Table
from dpassay.verifiers.findings.finding import Finding
from dpassay.verifiers.kinds.kind import ReleaseKind
from dpassay.verifiers.run.cause import Explanation
from dpassay.verifiers.run.checks import Check, EvidenceCheck
from dpassay.verifiers.run.events import ReleasesSeen
from dpassay.verifiers.run.phase import Phase
from dpassay.verifiers.run.registry import Entry, Registry
from dpassay.verifiers.run.session import Notes
from dpassay.verifiers.targets import InProcessTarget
from dpassay.verifiers.targets.labels import LABELS

CHECKS = Registry("", (Entry("input-contract", 0.0), Entry("bias", 0.5)), simplest_share=0.5)
FIRST, NEEDED = 10, 2_000
NOTHING = np.zeros(1, dtype=np.int64)


class Mechanism(Table):
    name: str
    bias: float = Field(gt=0, lt=1)


class CoinClaim(Claim):
    mechanism: Mechanism

    summary = property(lambda self: f"coin of bias {self.mechanism.bias:g}")
    release = property(lambda self: LABELS)  # whole numbers in, whole numbers out

    @property
    def kind(self) -> ReleaseKind:
        return KIND


class Bias(EvidenceCheck):
    """Evidence of another bias: half of it, or halfway to 1."""

    id, unit = "bias", "flips"
    queries = 0

    def __init__(self, claim: CoinClaim) -> None:
        self.claim, self.bias, self.heads = claim, claim.mechanism.bias, 0

    @property
    def log_e_value(self) -> float:
        h, t, p = self.heads, self.queries - self.heads, self.bias
        others = (0.5 * p, 0.5 * (1 + p))
        ratios = [h * math.log(q / p) + t * math.log((1 - q) / (1 - p)) for q in others]
        return float(np.logaddexp.reduce(ratios)) - math.log(2)

    def samples_needed(self) -> int:
        return max(0, NEEDED - self.queries)

    def fail_finding(self) -> Finding:
        share = f"{self.heads:,} of {self.queries:,} flips are heads"
        return Finding(
            share,
            "another bias",
            log_odds=self.log_e_value,
            cause="another bias",
            code="law-unexplained",
        )

    def pass_finding(self) -> Finding:
        return Finding(f"{self.queries:,} flips have the claimed bias")


class Opening(Check):
    id = "input-contract"

    def __init__(self, session: "CoinSession") -> None:
        self.session = session

    def conclude(self, context: Any) -> None:
        self.session.ask(FIRST)
        self.session.answered = True


class CoinSession:
    lacking: ClassVar = {}
    refusals, answered, opening, slow = (), False, None, MappingProxyType({})
    contract_queries = FIRST

    def __init__(self, state: Any, request: Any) -> None:
        self.state, self.bias = state, Bias(state.claim)
        self.checks = [self.bias] if request.selection.keeps("bias") else []

    def ask(self, size: int) -> None:
        flips = LABELS.shaped(self.state.target.ask(NOTHING, size), NOTHING, size)
        self.state.spend(size)
        self.bias.heads += int(flips.sum())
        self.bias.queries += size
        self.state.publish(ReleasesSeen(self.state.queries, self.checks))

    goes_on = property(lambda self: self.state.outcome.finished or not self.state.failed)

    def gather(self) -> None:
        while self.checks and self.goes_on and self.bias.samples_needed():
            if self.state.left < 100:
                self.state.use_up()
                return
            self.state.tell("flipping", NEEDED)
            self.ask(100)

    prepare = compare = explain = restart = ask_restarted = lambda self, *_: None

    def concluding(self, phase: Phase) -> Any:
        return iter([Opening(self)] if phase is Phase.OPENING else [])

    def explanations(self) -> list[Explanation]:
        peaks = [(c, c.peak.finding) for c in self.checks if c.refuted]
        return [Explanation(check, finding, finding.log_odds) for check, finding in peaks]

    end, figures = (lambda self, _: Notes()), (lambda self, _: {})


@dataclass(frozen=True)
class PlannedCoin:
    claim: CoinClaim
    extent = coarser = None
    queries = calls = FIRST + NEEDED
    looked_at: ClassVar = {"input-contract": FIRST, "bias": NEEDED}
    excluded: ClassVar = {}
    lacking: ClassVar = {}


def flipped(bias: float) -> Any:
    rng = np.random.default_rng()
    return lambda _, size: rng.binomial(1, bias, size)


class Coins(ReleaseKind):
    name, unit, evidence_unit = "coins", "flip", "flips"
    mechanisms, checks = ("coin",), CHECKS
    claim_model = CoinClaim
    not_chosen = "a coin has no inputs"

    def planned(self, claim, asked) -> Any:
        return PlannedCoin(claim)

    def session(self, state, request) -> Any:
        return CoinSession(state, request)

    def reference(self, claim) -> InProcessTarget:
        return InProcessTarget(flipped(claim.mechanism.bias))

    def served(self, claim) -> Any:
        return None

    def probe(self, claim) -> tuple[Any, None]:
        return NOTHING, None

    def read_opening(self, path, claim) -> None:
        return None


KIND = Coins()
