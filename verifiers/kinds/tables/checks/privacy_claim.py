"""`privacy-claim` of tables: what a user costs is no more than is claimed."""

from .....reference.accounting.adjacency import Adjacency
from .....reference.tables.certified import TableCost, released_alone, table_cost
from ....findings.note import Note
from ....run.checks import Reason, without_privacy
from ...numbers.checks.privacy_claim import ProvenCost, ReleasedAloneClaim
from ..claim import TablesClaim

_UNPRICED = Note(
    "cost-not-computed", "what a mean costs whose count is not released is not computed"
)


class TablePrivacyClaim(ReleasedAloneClaim):
    """That a partition of one user alone is released, and what all numbers cost together.

    Epsilon is never called exact, since other rows may cost more.
    """

    claim: TablesClaim
    left_out = "delta leaves out the private partitions"

    @classmethod
    def not_applicable_to(cls, claim: TablesClaim) -> Reason:
        released = any(one.hidden is None for one in claim.mechanism.table.aggregates)
        return without_privacy(claim) or (None if released else _UNPRICED)

    @property
    def alone(self) -> tuple[str, float]:
        least = released_alone(self.claim.mechanism.table, self.claim.private.queries)
        return "partitions that one user alone is in", least

    def cost(self) -> ProvenCost:
        """Of all numbers together, and of whether partitions are released."""
        privacy, mechanism = self.claim.private, self.claim.mechanism
        adjacency = Adjacency(mechanism.adjacency)
        cost = table_cost(mechanism.table, adjacency, privacy.queries, privacy.delta)
        return ProvenCost(_user(cost), cost.epsilon, cost.releases, apart=self._apart(cost))

    def _apart(self, cost: TableCost) -> str:
        """What is left out of the composition with the selection of partitions, in words."""
        table = self.claim.mechanism.table
        if table.selection is None:
            return ""
        if table.released is not None:
            return "; whether partitions are released is not added to the cost of their numbers"
        coarse = {str(one.noise) for one in cost.pair.moved if not one.on_grid}
        if not coarse:
            return ""
        return (
            f"; numbers with {' and '.join(sorted(coarse))} are not added to the selection's cost"
        )


def _user(cost: TableCost) -> str:
    """The user of a pair, in words."""
    pair = cost.pair
    rows = "a row" if pair.rows == 1 else f"{pair.rows:,} rows"
    where = "one partition" if pair.partitions == 1 else f"each of {pair.partitions:,} partitions"
    other = {
        "none": "",
        "not public": ", replaced by one in no public partition,",
        "same partitions": ", replaced by one with other values,",
        "elsewhere": ", replaced by one in other partitions,",
    }
    return f"a user of {rows} in {where}{other[pair.other]}"
