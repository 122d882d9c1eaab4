"""Two worlds told apart by predicting a fair coin: an audit that knows no law, at every look.

A fair coin chooses the world of each draw, and the coin is predicted from the output. `wagers` has
the e-variable, `learners` what predicts, `process` the capital over looks, `limit` the rate that no
test of the pair exceeds, `curve` the (epsilon, delta) that a trade-off curve implies,
`power` what so many draws surely show.
"""

from .curve import Curve, RowError
from .limit import best_rate, epsilon_lower
from .power import Law, factor_told, response_nats, response_told, share_told
from .process import CoinAudit, in_one_thread
from .wagers import Guarantee

__all__ = [
    "CoinAudit",
    "Curve",
    "Guarantee",
    "Law",
    "RowError",
    "best_rate",
    "epsilon_lower",
    "factor_told",
    "in_one_thread",
    "response_nats",
    "response_told",
    "share_told",
]
