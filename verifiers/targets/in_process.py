"""A target handed over as a Python object: it runs in this process."""

import math
import re
import sysconfig
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...reference import BudgetExhausted, Histogram
from ...reference.clock import OutOfTime, check_clock
from .labels import LABELS
from .release import Release
from .replies import CallError, NotOffered, Refused, shown_repr
from .restart_command import RestartCommand


class InProcessTarget:
    """Calls a function `(histogram, size) -> labels`, or a method of an object.

    That is `sample`, or of an object that cannot be called and has none, `aggregate`. Raises
    ValueError for a target that is neither.

    Args:
        restart: the command that restarts what the object is a client of.
        again: makes the object anew.
        release: what it releases.
    """

    def __init__(
        self,
        target: Any,
        restart: RestartCommand | None = None,
        again: Callable[[], Any] | None = None,
        release: Release = LABELS,
    ) -> None:
        self._command, self._again, self._release = restart, again, release
        self._bind(target)

    def _bind(self, target: Any) -> None:
        target = self._release.function(target)
        sample = getattr(target, "sample", None)
        if not callable(sample) and not callable(target):
            sample = getattr(target, "aggregate", None)
        if isinstance(target, type):  # calling it would make an instance, not labels
            raise ValueError(f"{target.__name__} is a class: expected an instance of it")
        if not callable(sample) and not callable(target):
            lacks = "is neither callable nor has it a method sample or aggregate(histogram, size)"
            raise ValueError(f"{_without_address(target)} {lacks}")
        self._aggregate: Callable[[Histogram, int], Any] = sample if callable(sample) else target
        spent = getattr(target, "spent", None)
        self._spent: Callable[[float], Any] | None = spent if callable(spent) else None
        charge = getattr(target, "rdp", None)
        self._charge: Callable[..., Any] | None = charge if callable(charge) else None

    def ask(self, histogram: Histogram, size: int) -> Any:
        """The target gets a new read-only array."""
        release = self._release
        return self.answer(lambda: release.argument(histogram), size, release.text(histogram, size))

    def answer(self, make: Callable[[], Any], size: int, call: str) -> Any:
        """The reply for the input that `make` creates for this call; call: as messages name it."""
        return self._call(self._aggregate, make, size, call)

    def rdp(
        self, histogram: Histogram, orders: Sequence[float], answered: bool | None = None
    ) -> Any:
        """The method of that name, if the object has one."""
        release = self._release
        call = release.charge_text(histogram, answered)
        return self.charge(lambda: release.argument(histogram), orders, call, answered)

    def charge(
        self,
        make: Callable[[], Any],
        orders: Sequence[float],
        call: str,
        answered: bool | None = None,
    ) -> Any:
        """The charge for the input that `make` creates for this call; raises as `rdp`."""
        if self._charge is None:
            raise NotOffered("the target has no rdp(histogram, orders)")
        charge = self._charge if answered is None else partial(self._charge, answered=answered)
        return self._call(charge, make, np.array(orders, dtype=np.float64), call)

    def spent(self, delta: float) -> Any:
        """The method of that name, if the object has one."""
        if self._spent is None:
            raise NotOffered("the target has no spent(delta)")
        try:
            return self._spent(delta)
        except OutOfTime:
            raise
        except Exception as error:
            raised = f"{type(error).__name__}: {error}".splitlines()[0]
            raise CallError(
                f"spent({delta:g})", f"raised {raised}", code="target-failed"
            ) from error

    def _call(
        self, function: Callable[[Any, Any], Any], make: Callable[[], Any], argument: Any, call: str
    ) -> Any:
        given, word = make(), self._release.given
        check_clock()
        try:
            reply = function(given, argument)
        except (BudgetExhausted, OutOfTime):
            raise
        except Exception as error:
            written_to = "read-only" in str(error)
            if isinstance(error, ValueError) and not written_to:
                raise Refused(str(error)) from None
            raised = f"{type(error).__name__}: {error}".splitlines()[0]
            hint = f": the {word} given is read-only, copy it" if written_to else ""
            if "budget" in str(error).lower():
                hint = ": raise dpassay.reference.BudgetExhausted where the budget is spent"
            message = f"raised {raised}{line_of_error(error)}{hint}"
            raise CallError(call, message, code="target-failed") from error
        if not _alike(given, make()):
            raise CallError(call, f"changed the {word} it was given", code="input-changed")
        return reply

    @property
    def no_restart(self) -> str | None:
        if self._command is not None or self._again is not None:
            return None
        return "give its spec, such as file.py:attr, which a run starts anew"

    def restart(self) -> str | None:
        """Runs the command, and makes the object anew, as far as given."""
        if self._command is None and self._again is None:
            raise NotOffered("an object handed over in Python cannot be restarted")
        if self._command is not None:
            self._command.run()
        if self._again is not None:
            self._bind(self._again())
        return None

    def restart_contained(self) -> None:
        raise NotOffered("an object handed over in Python has no process of its own")

    def close(self) -> None:
        """Nothing to end."""


def _alike(one: Any, other: Any) -> bool:
    """Whether two inputs, arrays or other objects, are equal."""
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return all(_alike(*each) for each in zip(one, other, strict=True))
    if isinstance(one, np.ndarray) and one.dtype.names and one.dtype == other.dtype:
        return all(_alike(one[name], other[name]) for name in one.dtype.names)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        floats = np.asarray(one).dtype.kind == "f"
        return np.array_equal(one, other, equal_nan=floats)
    if hasattr(one, "equals"):  # frames
        return bool(one.equals(other))
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return bool(one == other)


def _without_address(target: object) -> str:
    """The repr of an object, without its address in memory."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", shown_repr(target))


_OURS = Path(__file__).resolve().parents[1]
_OTHERS = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib"))


def line_of_error(error: BaseException) -> str:
    """The last line of the target's own files that an error passed, or nothing if there is none.

    The name of the file alone, since reports are handed on. Libraries are left out, so that it is a
    line that the target's author can change.
    """
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        whole = path.resolve()
        if path.is_file() and not any(whole.is_relative_to(place) for place in (_OURS, *_OTHERS)):
            return f" at {path.name}:{frame.lineno}, in {frame.name}"
    return ""
