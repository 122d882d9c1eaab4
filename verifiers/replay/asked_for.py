"""What a call of a function that draws asks for: centre, scale, shape, whether it is noise."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .tape import DrawRequest

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
