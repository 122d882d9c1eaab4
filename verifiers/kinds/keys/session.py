"""One run on a target that releases keys: that of numbers, with figures of its own."""

from ..numbers.recorder import Recorder
from ..numbers.session import NumberSession
from .recorder import RatesRecorder


class KeysSession(NumberSession):
    """See `NumberSession`."""

    def _recorder(self) -> Recorder:
        return RatesRecorder(self.claim)
