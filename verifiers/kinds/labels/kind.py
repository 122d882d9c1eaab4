"""Labels, the winners of noisy votes: what a run, a report or a command needs of them."""

from ..kind import ReleaseKind, late
from .claim import parse_labels_claim
from .mechanism import OF_LABELS
from .registry import CHECKS

KIND = ReleaseKind(
    name="labels",
    unit="label",
    evidence_unit="queries",
    mechanisms=OF_LABELS,
    parse=parse_labels_claim,
    checks=CHECKS,
    cost_at=late(__package__, "checks.privacy_claim.cost_at"),
    planned=late(__package__, "planned.planned_labels"),
    session=late(__package__, "session.LabelSession"),
    reference=late(__package__, "embedded.reference_target"),
    served=late(__package__, "served.ServedLabels"),
    probe=late(__package__, "planning.given_inputs.probe"),
    serves_all=late(__package__, "checks.input_contract.serves_other_totals"),
    read_opening=late(__package__, "opening.read_opening"),
)
