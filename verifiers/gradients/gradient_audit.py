"""What an audit of a noisy gradient comes to: bounds, exact costs, and why a claim cannot hold."""

from pydantic import Field

from ..findings.pair_bounds import LowerBounds
from ..findings.verdict import Verdict

_ROWS = {
    "epsilon_lower": "at least, any mechanism",
    "epsilon_lower_if_gaussian": "at least, Gaussian noise",
    "epsilon_exact": "of this pair, exactly",
    "epsilon_substitution": "of any record substituted",
    "epsilon_add_remove": "of any record added",
}
"""Epsilons in words; each also stands composed over the releases of the claim."""


class GradientAudit(LowerBounds):
    """Lower bounds that hold together with the audit's confidence, and what they are held against.

    Of one release, and composed over all that the claim allows. Where the claim is of other noise
    than Gaussian, the figures of Gaussian noise are left out.
    """

    epsilon_lower_if_gaussian: float = Field(
        default=0.0, ge=0, description="At least, by Gaussian noise."
    )
    epsilon_exact: float = Field(
        default=0.0, ge=0, description="Of this pair exactly, by the claimed Gaussian noise."
    )
    epsilon_substitution: float = Field(
        default=0.0, ge=0, description="The same of any record in another's place."
    )
    epsilon_add_remove: float = Field(
        default=0.0, ge=0, description="The same of any record more or less."
    )
    epsilon_lower_composed: float = Field(ge=0)
    epsilon_lower_if_gaussian_composed: float = Field(default=0.0, ge=0)
    epsilon_exact_composed: float = Field(default=0.0, ge=0)
    epsilon_substitution_composed: float = Field(default=0.0, ge=0)
    epsilon_add_remove_composed: float = Field(default=0.0, ge=0)
    refuted: tuple[str, ...] = Field(description="Why the claim cannot hold.")
    pair: str = Field(description="The pair in words.")
    steps_of_adjacency: int = Field(
        ge=1, description="How many steps of the claimed adjacency lie between the batches."
    )
    distance: float = Field(
        ge=0, description="Between the releases of the two batches, without noise."
    )
    releases_composed: int = Field(ge=0, description="Releases that the claim allows.")

    @property
    def _rows(self) -> list[tuple[str, float, float]]:
        """In words, the epsilon of one release, and that of all that the claim allows."""
        return [
            (words, getattr(self, key), getattr(self, f"{key}_composed"))
            for key, words in _ROWS.items()
            if key in self.model_fields_set
        ]

    def as_text(self) -> str:
        """The results as text."""
        meaning = {
            Verdict.FAIL: "; ".join(self.refuted),
            Verdict.PASS: "the worlds are told apart, and the claim is not refuted by it",
            Verdict.INCONCLUSIVE: "the releases seen do not tell the worlds apart",
        }[self.verdict]
        head = f"epsilon at delta {self.delta:g}"
        several = f"{self.releases_composed:,} releases" if self.releases_composed > 1 else ""
        lines = [
            f"{self.verdict.value.upper()}: {meaning}",
            self.pair,
            f"{head:30}{'one release':>12}{several:>20}".rstrip(),
        ]
        for name, one, many in self._rows:
            lines.append(f"  {name:28}{one:>12.4g}" + (f"{many:>20.4g}" if several else ""))
        lines.append(f"confidence {self.confidence:g}, {self.queries:,} releases")
        lines.append(
            "gradients within the bound were asked: whether others are clipped, "
            "`dpassay verify` tests"
        )
        return "\n".join(lines)
