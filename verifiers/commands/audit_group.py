"""`dpassay audit --mechanism --group`: what bounds for a group of records refute for one."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...attacks.private_prediction.adversaries import Attack
from ...attacks.private_prediction.audited import Audited
from ...attacks.private_prediction.group import least_order, per_record, per_record_if_gaussian
from ...reference.accounting.adjacency import Adjacency
from ...reference.arrays import Vector


@dataclass(frozen=True)
class Refuted:
    """Lower bounds for one record at orders (n,): a claim that charges less is refuted.

    claims: which claims, in words; two_cut, region: the bounds (n,) in nats, by the two methods.
    """

    claims: str
    orders: Vector
    two_cut: Vector
    region: Vector

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        return {
            "claims": self.claims,
            "orders": self.orders.tolist(),
            "two_cut": self.two_cut.tolist(),
            "region": self.region.tolist(),
        }

    def lines(self) -> Iterator[str]:
        """The bounds in lines for the terminal."""
        yield f"  refuted: claims {self.claims} that charge one record less than"
        yield f"  order{'2-cut':>56}{'region':>14}"
        for order, cut, whole in zip(self.orders, self.two_cut, self.region, strict=True):
            yield f"{order:7g}{cut:56.4g}{whole:14.4g}"


def refuted_of_one_record(attack: Attack, found: Audited, orders: Vector) -> tuple[Refuted, ...]:
    """Claims for one record that the bounds for a group refute; none for a group of one.

    For any mechanism by group privacy of Rényi divergences, at orders from `least_order` on; for
    Gaussian noise by how far the votes move. The latter is left out for Private-kNN, where records
    are sampled and the cost of several is no multiple of that of one.
    """
    records = attack.records
    if records == 1:
        return ()
    messages = []
    known = orders >= least_order(records)
    if known.any():
        at, cut = per_record(found.two_cut[known], orders[known], records)
        whole = per_record(found.region[known], orders[known], records)[1]
        messages.append(Refuted("of any mechanism", at, cut, whole))
    if attack.asked[0].worlds.adjacency is Adjacency.REPLACE_ONE:
        bounds = [per_record_if_gaussian(b, records) for b in (found.two_cut, found.region)]
        messages.append(Refuted("of gaussian noise on the votes", orders, *bounds))
    return tuple(messages)
