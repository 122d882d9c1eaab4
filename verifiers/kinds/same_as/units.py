"""The units of a run, each a call or a life put to both, and the evidence of all of them."""

import json
import math
from typing import Any, NamedTuple

import numpy as np

from ..lawless.features import Features
from .evidence import FIRST, Learnt
from .statistics import Inputs, Numbers

_FEW = 0.6  # replies of few kinds: so many of the first ones at most differ, as a share of them
_SHOWN = 200  # characters of a reply that is taken by its name


class Reply(NamedTuple):
    """What came of a call; withheld: why there was no release, None where there was one."""

    release: Any
    withheld: str | None = None


class BothReplies(NamedTuple):
    """A call that was put to both: its input, by its place, and the replies."""

    place: int
    target: Reply
    reference: Reply

    @property
    def both(self) -> tuple[Reply, Reply]:
        """The target's first."""
        return self.target, self.reference


class Evidence:
    """Half on all units together, half on those of each input by themselves, in equal shares."""

    def __init__(self, inputs: int, *, apart: bool) -> None:
        self._together = Learnt(inputs)
        self._each = [Learnt(1, alone=True) for _ in range(inputs)] if apart and inputs > 1 else []

    @property
    def log_e_value(self) -> float:
        """Natural log."""
        together = self._together.log_e_value
        if not self._each:
            return together
        each = np.logaddexp.reduce([one.log_e_value for one in self._each])
        return float(np.logaddexp(together, each - math.log(len(self._each))) - math.log(2.0))

    def likeliest(self, least: float) -> int | None:
        """The input whose units tell most; None where all tell less (natural log)."""
        logs = [one.log_e_value for one in self._each]
        return int(np.argmax(logs)) if logs and max(logs) >= least else None

    def observe(self, numbers: Numbers, inputs: Inputs, names: Inputs) -> None:
        """All units so far, as `Learnt.observe` has them."""
        self._together.observe(numbers, inputs, names)
        for place, one in enumerate(self._each):
            rows = np.flatnonzero(inputs[:, 0] == place)
            one.observe(numbers[rows], np.zeros((len(rows), 1), dtype=np.int64), names[rows])


class Units:
    """All units so far, as numbers.

    What of replies is looked at is decided by the first units, both sides alike. numbers: (units,
    2, calls, f), the last of f whether there was no answer; inputs: (units, calls); names: (units,
    2, calls), equal for equal replies to an input; (units, 2, 0) where there are many kinds.
    """

    def __init__(self, inputs: int, calls: int) -> None:
        self.numbers: Numbers = np.zeros((0, 2, calls, 0))
        self.inputs: Inputs = np.zeros((0, calls), dtype=np.int64)
        self.names: Inputs = np.zeros((0, 2, 0), dtype=np.int64)
        self.features: Features | None = None
        self.evidence = Evidence(inputs, apart=calls == 1)
        self._first: list[list[BothReplies]] = []
        self._known: dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self._first) + len(self.numbers)

    def observe(self, units: list[list[BothReplies]]) -> None:
        """Adds units, and wagers on them."""
        begins = self.features is None
        if self.features is None:
            self._first += units
            if len(self._first) < FIRST:
                return
            units, self._first = self._first, []
            replies = [reply for unit in units for call in unit for reply in call.both]
            self.features = Features([reply.release for reply in replies])
            kinds = {_name(0, reply) for reply in replies}
            if len(kinds) <= _FEW * len(replies) and None not in kinds:
                self.names = np.zeros((0, *self.numbers.shape[1:3]), dtype=np.int64)
        calls = [(call.place, call.both[s]) for unit in units for s in range(2) for call in unit]
        withheld = [[float(reply.withheld is not None)] for _, reply in calls]
        shown = self.features.of([reply.release for _, reply in calls])
        made = np.concatenate([shown, withheld], axis=1)
        made = made.reshape(len(units), *self.numbers.shape[1:3], -1)
        self.numbers = made if begins else np.concatenate([self.numbers, made])
        places = np.array([[call.place for call in unit] for unit in units])
        self.inputs = np.concatenate([self.inputs, places])
        few = calls if self.names.shape[2] else []
        named = [self._known.setdefault(_name(*call), len(self._known)) for call in few]
        shape = len(units), *self.names.shape[1:]
        self.names = np.concatenate([self.names, np.array(named, dtype=np.int64).reshape(shape)])
        self.evidence.observe(self.numbers, self.inputs, self.names)


def _name(place: int, reply: Reply) -> Any:
    """A reply to an input by its text, None where that is long."""
    text = json.dumps(reply.release, sort_keys=True)
    return (place, reply.withheld, text) if len(text) <= _SHOWN else None
