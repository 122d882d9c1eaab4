"""`dpassay audit --mechanism --group`: what bounds for several altered records refute of one."""

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
    """Claims for one record at orders (n,): any that charges less than the bounds is refuted.

    claims: which, in words; bounds: those of the group, the 2-cut and the region, as they refute
    claims for one record (n,), in nats.
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
        """For people."""
        yield f"  refuted: claims {self.claims} that charge one record less than"
        yield f"  order{'2-cut':>56}{'region':>14}"
        for order, cut, whole in zip(self.orders, self.two_cut, self.region, strict=True):
            yield f"{order:7g}{cut:56.4g}{whole:14.4g}"


def refuted_of_one_record(attack: Attack, found: Audited, orders: Vector) -> tuple[Refuted, ...]:
    """What the bounds for a group refute of one record; nothing where one record was altered.

    Any mechanism's claim by the group privacy of Rényi costs, at orders of the bounds from 2 on;
    that of Gaussian noise by how far the votes move, but for Private-kNN, where a record is drawn
    by chance and several cost no whole number of times as much.
    """
    records = attack.records
    if records == 1:
        return ()
    told = []
    known = orders >= least_order(records)
    if known.any():
        at, cut = per_record(found.two_cut[known], orders[known], records)
        whole = per_record(found.region[known], orders[known], records)[1]
        told.append(Refuted("of any mechanism", at, cut, whole))
    if attack.asked[0].worlds.adjacency is Adjacency.REPLACE_ONE:
        bounds = [per_record_if_gaussian(b, records) for b in (found.two_cut, found.region)]
        told.append(Refuted("of gaussian noise on the votes", orders, *bounds))
    return tuple(told)
