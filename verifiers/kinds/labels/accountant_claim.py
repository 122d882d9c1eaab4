"""`[accountant]` of a claim on labels, as a pydantic model."""

from typing import Literal

from ...claims.tables import AccountantClaim

Charges = Literal["all", "realised", "data-independent"]
"""What a query is charged.

"all": as much whatever its outcome; "realised": its screening, and its answer only when it is
given; "data-independent": as much whatever the votes.
"""


class LabelsAccountant(AccountantClaim):
    """`[accountant]` of labels: what its charges depend on too, where the claim says so."""

    charges: Charges | None = None
