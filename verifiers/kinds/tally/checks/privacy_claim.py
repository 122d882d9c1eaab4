"""`privacy-claim` of a tally: against colluders, in the round that the fewest parties finish."""

from ...numbers.checks.privacy_claim import NumbersPrivacyClaim
from ...numbers.planning.plan import NumbersPlan
from ..claim import TallyClaim


class TallyPrivacyClaim(NumbersPrivacyClaim):
    """What the noise costs that is left: colluders subtract their shares, the gone took theirs."""

    def __init__(self, claim: TallyClaim, plan: NumbersPlan, seed: int) -> None:
        super().__init__(claim.against_colluders, plan, seed)
