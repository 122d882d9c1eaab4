"""All checks, in the order of the report: a new one is a line here and a file under checks/.

Those of one phase run in this order; what uses a budget up comes last.

Shares and ids are read with every start of pytest and of the command line, so that what else there
is to know of a check, its spec, stands in its file and is loaded where it is used.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """A check, its share of `false_alarm`, 0 where a failure is a proof, no statistic; its files.

    files: under checks/; each has `SPECS`. Where an id stands for several checks, of which a claim
    has one, there are several.
    """

    id: str
    share: float
    files: tuple[str, ...]


CHECKS = (
    Entry("input-contract", 0.0, ("input_contract",)),
    Entry("class-probabilities", 1 / 4, ("class_probabilities",)),
    Entry("noise-scale", 1 / 8, ("noise_scale",)),
    Entry("shift-invariance", 1 / 16, ("symmetry",)),
    Entry("permutation-equivariance", 1 / 16, ("symmetry",)),
    Entry("vote-monotonicity", 1 / 16, ("vote_monotonicity",)),
    Entry("fresh-noise", 1 / 8, ("fresh_noise", "cached_answers")),
    Entry("order", 1 / 16, ("order",)),
    Entry("abstention", 1 / 16, ("abstention",)),
    Entry("accountant-soundness", 0.0, ("accountant_soundness",)),
    Entry("privacy-claim", 0.0, ("privacy_claim",)),
    Entry("privacy-audit", 1 / 16, ("privacy_audit",)),
    Entry("histogram-leakage", 1 / 16, ("histogram_leakage",)),
    Entry("budget-enforcement", 0.0, ("budget_enforcement",)),
)
