"""The likeliest size of a change of votes or of noisy counts, where no known fault fits as well."""

from functools import cached_property

import numpy as np

from .....reference.arrays import Matrix, Vector
from ....run.cause import NEAR
from ..planning.count_laws import CountLaw, count_laws
from ..planning.laws import LabelFault, fault_laws
from ..planning.plan import Plan
from .fitted import FITTING_COSTS, ROUNDING_COSTS, Fitted

_FEWEST = 14.0  # nats: what shows less is left to the plainer faults
_BETWEEN = 6  # sizes that are tried on either side of the likeliest


class FittedCounts:
    """The faults of each form with the likeliest size; laws are kept, as a run fits many times."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._kept: dict[tuple[int, float], tuple[LabelFault, Matrix]] = {}

    @cached_property
    def _forms(self) -> list[CountLaw]:
        return count_laws(self._plan.claim.mechanism, int(self._plan.histograms.max()))

    def likeliest(self, counts: Matrix, ratios: Vector) -> list[Fitted]:
        """Those that explain more than all known faults, or nearly as much, the likeliest first.

        counts: of labels (streams, o), with rotations undone; ratios: log-likelihood ratios (a,)
        of the known faults.
        """
        if not ratios.size or ratios.max() < _FEWEST:
            return []
        nearest = int(np.argmax(ratios))
        found = [self._fit(counts, form, nearest) for form in range(len(self._forms))]
        near = [one for one in found if one.log_ratio > max(0.0, ratios.max() - NEAR)]
        return sorted(near, key=lambda one: -one.log_ratio)

    def _fit(self, counts: Matrix, form: int, stands_for: int) -> Fitted:
        sizes = self._forms[form].sizes
        gained = {float(size): self._gained(counts, form, float(size)) for size in sizes}
        best = max(gained, key=gained.__getitem__)
        place = int(np.flatnonzero(sizes == best)[0])
        for other in {max(0, place - 1), min(sizes.size - 1, place + 1)} - {place}:
            for size in np.linspace(best, sizes[other], _BETWEEN + 2)[1:-1]:
                near = float(f"{size:.2g}")
                gained[near] = self._gained(counts, form, near)
        best = max(gained, key=gained.__getitem__)
        # in one digit where that is as likely
        one = float(f"{best:.1g}")
        if one != best and self._gained(counts, form, one) >= gained[best] - ROUNDING_COSTS:
            gained[one], best = gained[best], one
        fault, each = self._kept[form, best][0], self._each(counts, form, best)
        return Fitted(fault, float(each.sum()) - FITTING_COSTS, each, stands_for)

    def _gained(self, counts: Matrix, form: int, size: float) -> float:
        return float(self._each(counts, form, size).sum())

    def _each(self, counts: Matrix, form: int, size: float) -> Vector:
        """Log-ratios (streams,) of a fault against the claim."""
        plan = self._plan
        if (form, size) not in self._kept:
            fault = self._forms[form].made(size)
            log_laws = fault_laws([fault], plan.log_q, plan.histograms.astype(np.float64))[:, 0]
            with np.errstate(invalid="ignore"):  # where both give a label no chance
                self._kept[form, size] = fault, log_laws - plan.log_q
        ratios = self._kept[form, size][1]
        return np.asarray((counts * np.where(counts > 0, ratios, 0.0)).sum(-1))
