"""A Python target whose noise is frozen: runs of it that share their draws, and what they give."""

import pickle
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import Pipe
from typing import Any, Self

import numpy as np

from ...reference.arrays import Vector
from ..targets.replies import NoReplyError, TargetError
from .steps import LineTrace
from .tape import Draw, DrawRequest, Parting

_CENTRED = {
    "normal": ("loc", "scale"),
    "laplace": ("loc", "scale"),
    "gumbel": ("loc", "scale"),
    "logistic": ("loc", "scale"),
    "gauss": ("mu", "sigma"),
    "normalvariate": ("mu", "sigma"),
}
"""Noise about a centre: its arguments, the first two in this order."""

_SCALED = {"exponential", "rayleigh"}
_SUBSETS = {"choice", "choices", "sample", "permutation", "permuted", "shuffle", "randperm"}
"""Draws of a subset or an order: of as many elements they are the same, whatever these are."""

_SIZE_AT = {"standard_normal": 0, "standard_exponential": 0, "standard_cauchy": 0, "geometric": 1}
"""Where functions without a centre and a scale are given the shape of what they draw."""

NOISE = {*_CENTRED, *_SCALED, *_SIZE_AT, "expovariate", "randn", "randn_like", "cauchy"}
"""Functions that are asked for noise alone. Other draws may serve other ends: that one of these is
made for some data only, or is of another shape, shows nothing by itself."""


def asked_for(name: str, given: Sequence[Any], named: dict[str, Any]) -> DrawRequest:
    """What a call of a function of this name asks for."""
    arguments: dict[Any, Any] = {**dict(enumerate(given)), **named}
    if name in _CENTRED:
        centre, scale = _CENTRED[name]
        at, wide = (
            arguments.pop(place, arguments.pop(key, default))
            for place, key, default in ((0, centre, 0.0), (1, scale, 1.0))
        )
        return DrawRequest(fixed_by_name(arguments, {2: "size"}), _number(at), _number(wide))
    if name in _SCALED:
        wide = arguments.pop(0, arguments.pop("scale", 1.0))
        return DrawRequest(fixed_by_name(arguments, {1: "size"}), 0.0, _number(wide))
    if name == "expovariate":
        return DrawRequest({}, 0.0, 1.0 / arguments.get(0, arguments.get("lambd", 1.0)))
    if name in _SUBSETS:
        first = arguments.pop(0, next(iter(named.values()), None))
        many = len(first) if hasattr(first, "__len__") else first
        rest = {key: value for key, value in arguments.items() if value is not first}
        return DrawRequest({"of": many, **fixed_by_name(rest, {1: "size"})}, noise=False)
    if name == "randn":
        return DrawRequest({"size": tuple(given)})
    named_by_place = {_SIZE_AT[name]: "size"} if name in _SIZE_AT else {}
    return DrawRequest(fixed_by_name(arguments, named_by_place), noise=name in NOISE)


def fixed_by_name(arguments: dict[Any, Any], names: dict[int, str]) -> dict[str, Any]:
    """The arguments by name, those given by place too where `names` has one for it."""
    return {
        names.get(key, f"argument {key + 1}" if isinstance(key, int) else key): _plain(value)
        for key, value in arguments.items()
        if value is not None
    }


def _number(value: Any) -> Any:
    return np.array(value, dtype=np.float64) if np.ndim(value) else float(value)


def _plain(value: Any) -> Any:
    """An argument as an array where it is one of another library."""
    if hasattr(value, "__array__") and not isinstance(value, np.ndarray):
        return np.asarray(value)
    return value.copy() if isinstance(value, np.ndarray) else value


def asked_of_torch(name: str, given: Sequence[Any], named: dict[str, Any]) -> DrawRequest:
    """As `asked_for`, of a function of PyTorch or a method of its tensors without the last `_`."""
    arguments: dict[Any, Any] = {**dict(enumerate(given)), **named}
    for key in ("generator", "device", "out", "dtype", "requires_grad", "pin_memory", "layout"):
        arguments.pop(key, None)
    if name.endswith("_like"):
        return DrawRequest({"size": tuple(arguments.pop(0).shape)}, noise=name in NOISE)
    if name in ("randn", "rand"):
        return DrawRequest({"size": tuple(arguments.values())}, noise=name in NOISE)
    if name == "normal":
        at = arguments.pop(0, arguments.pop("mean", 0.0))
        wide = arguments.pop(1, arguments.pop("std", 1.0))
        return DrawRequest(fixed_by_name(arguments, {}), _number(at), _number(wide))
    return DrawRequest(fixed_by_name(arguments, {}), noise=name in NOISE)


class NoReleaseError(TargetError):
    """A run that raised, ended its process, or released something of another form."""


@dataclass(frozen=True)
class Ran:
    """One run: the release, a row of numbers; what was drawn, and where it parted from the tape."""

    released: Any
    draws: tuple[Draw, ...]
    partings: tuple[Parting, ...]
    steps: LineTrace
    modules: tuple[str, ...]

    @property
    def row(self) -> Vector:
        """The numbers released (d,), or the label (1,)."""
        return np.asarray(self.released, dtype=np.float64).reshape(-1)


@dataclass(frozen=True)
class FrozenCall:
    """What to run: an input in its Python form, and its `Release`; see `Tape` and `LineTrace`.

    turn: from 1, seeds what has no seed of its own where nothing is recorded; refuses: whether a
    label may be a refusal, None where numbers are released.
    """

    values: Any
    release: Any
    recorded: tuple[Draw, ...] | None
    traced: bool
    turn: int
    refuses: bool | None


_START_SECONDS = 120.0  # each run loads the deployment anew


class FrozenTarget:
    """Runs a target in forks of a process of its own; a context manager that ends it.

    Args:
        spec: a Python spec.
        release: how inputs and releases travel.
        timeout: seconds of a call.
        refuses: whether a label may be a refusal, None where numbers are released.
    """

    def __init__(
        self, spec: str, release: Any, timeout: float, *, refuses: bool | None = None
    ) -> None:
        self.spec, self._release, self._seconds = spec, release, timeout + _START_SECONDS
        self._refuses = refuses
        self._connection, theirs = Pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.child", str(theirs.fileno()), spec],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        self.runs = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()
        self._process.kill()
        self._process.wait()

    def run(
        self, values: Any, recorded: tuple[Draw, ...] | None = None, *, traced: bool = False
    ) -> Ran:
        """One release of an input, with draws of its own, or the recorded ones.

        traced: follows the lines of the target, which takes longer. Raises Refused or
        NoReleaseError for what the input ends in, TargetError for what says nothing of the input.
        """
        self.runs += 1
        try:
            asked = FrozenCall(values, self._release, recorded, traced, self.runs, self._refuses)
            self._connection.send(asked)
            if not self._connection.poll(self._seconds):
                raise NoReplyError(f"{self.spec} gave no answer within {self._seconds:g} s")
            found = pickle.loads(self._connection.recv_bytes())
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise NoReplyError(f"{self.spec}: its process ended") from None
        if isinstance(found, Exception):
            raise found
        assert isinstance(found, Ran)
        return found
