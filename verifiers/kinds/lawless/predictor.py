"""The vendor's own predictor of the coin, which knows the mechanism: run in this process."""

import copy
import math
from dataclasses import dataclass
from typing import Any

from ....reference.clock import OutOfTime
from ...targets import TargetError
from ...targets.replies import CallError, shown_repr
from ...targets.spec import load
from .pairs import Pair


@dataclass(frozen=True)
class Predictor:
    """A callable (reply, here, there) -> log-odds that the reply is of `there`.

    spec: as typed, which messages name. It is given no coin, so that whatever it says is sound.
    """

    spec: str
    given: Any

    def __call__(self, reply: Any, pair: Pair) -> float:
        """The log-odds of a reply. Raises CallError where they are none."""
        here, there = copy.deepcopy(pair.here), copy.deepcopy(pair.there)
        call = f"the predictor {self.spec}, for {shown_repr(reply)},"
        try:
            odds = self.given(copy.deepcopy(reply), here, there)
        except OutOfTime:
            raise
        except Exception as error:
            raised = f"{type(error).__name__}: {error}".splitlines()[0]
            raise CallError(call, f"raised {raised}", code="predictor-failed") from error
        try:
            found = float(odds)
        except (TypeError, ValueError):
            found = math.nan
        if math.isnan(found):
            message = f"returned {shown_repr(odds)}: expected log-odds, a number"
            raise CallError(call, message, code="predictor-failed")
        return found


def load_predictor(spec: str) -> Predictor:
    """`package.module:attr` or `path/to/file.py:attr`. Raises ValueError of one line."""
    try:
        found = load(spec)
    except TargetError as error:
        raise ValueError(f"mechanism.predictor: {error}") from None
    if not callable(found):
        raise ValueError(
            f"mechanism.predictor: {spec}: expected a callable (reply, here, there) -> log-odds"
        )
    return Predictor(spec, found)
