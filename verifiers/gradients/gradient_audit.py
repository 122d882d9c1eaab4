"""What an audit of a noisy gradient comes to: bounds, exact costs, and why a claim cannot hold."""

from dataclasses import dataclass
from typing import Any

from ..findings.pair_bounds import Audit
from ..findings.verdict import Verdict
from .canary_pair import CanaryPair


@dataclass(frozen=True)
class Exact:
    """Exact epsilons of the claimed Gaussian noise, at the claim's delta.

    Each is of one release, and of all that the claim allows. canary: of this pair; substitution: of
    any record in another's place; add_remove: of any record more or less.
    """

    canary: tuple[float, float]
    substitution: tuple[float, float]
    add_remove: tuple[float, float]


@dataclass(frozen=True)
class GradientAudit:
    """Lower bounds that hold together with the audit's confidence, and what they are held against.

    audit: for one release, whatever the mechanism; times: releases of the claim; composed: epsilon
    of so many, whatever the mechanism; separation: how many standard deviations of *Gaussian* noise
    the worlds are apart at least; if_gaussian: epsilon of one release and of all by that, None
    where the claim is of other noise; exact: None alike; refuted: why the claim cannot hold.
    """

    audit: Audit
    pair: CanaryPair
    times: int
    composed: float
    separation: float
    if_gaussian: tuple[float, float] | None
    exact: Exact | None
    refuted: tuple[str, ...]

    @property
    def verdict(self) -> Verdict:
        """A bound of zero says that the releases seen do not tell the worlds apart."""
        return Verdict.FAIL if self.refuted else self.audit.verdict

    @property
    def rows(self) -> tuple[tuple[str, str, tuple[float, float]], ...]:
        """Epsilons of one release and of all that the claim allows: key, in words, and both."""
        bound = self.audit.epsilon_lower, self.composed
        found = [("epsilon_lower", "at least, any mechanism", bound)]
        if self.if_gaussian is not None:
            found.append(
                ("epsilon_lower_if_gaussian", "at least, Gaussian noise", self.if_gaussian)
            )
        if self.exact is not None:
            found += [
                ("epsilon_exact", "of this pair, exactly", self.exact.canary),
                ("epsilon_substitution", "of any record substituted", self.exact.substitution),
                ("epsilon_add_remove", "of any record added", self.exact.add_remove),
            ]
        return tuple(found)

    def as_json(self) -> dict[str, Any]:
        """The public form: that of all audits, and what gradients have beside."""
        costs = {key: both for key, _, both in self.rows}
        return (
            self.audit.as_json()
            | {key: both[0] for key, both in costs.items()}
            | {f"{key}_composed": both[1] for key, both in costs.items()}
            | {
                "verdict": self.verdict.value,
                "refuted": list(self.refuted),
                "pair": self.pair.words,
                "steps_of_adjacency": self.pair.steps,
                "distance": self.pair.distance,
                "releases_composed": self.times,
            }
        )

    def as_text(self) -> str:
        """The results as text."""
        meaning = {
            Verdict.FAIL: "; ".join(self.refuted),
            Verdict.PASS: "the worlds are told apart, and the claim is not refuted by it",
            Verdict.INCONCLUSIVE: "the releases seen do not tell the worlds apart",
        }[self.verdict]
        head = f"epsilon at delta {self.audit.delta:g}"
        several = f"{self.times:,} releases" if self.times > 1 else ""
        lines = [
            f"{self.verdict.value.upper()}: {meaning}",
            self.pair.words,
            f"{head:30}{'one release':>12}{several:>20}".rstrip(),
        ]
        for _, name, (one, many) in self.rows:
            lines.append(f"  {name:28}{one:>12.4g}" + (f"{many:>20.4g}" if several else ""))
        lines.append(f"confidence {self.audit.confidence:g}, {self.audit.queries:,} releases")
        lines.append(
            "gradients within the bound were asked: whether others are clipped, "
            "`dpassay verify` tests"
        )
        return "\n".join(lines)
