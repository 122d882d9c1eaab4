"""The functions of Python, NumPy, JAX and PyTorch that draw, each with a tape put before it.

`install` changes this process for good: it is for a process that only runs a target.
"""

import functools
import importlib
import importlib.abc
import inspect
import os
import random
import secrets
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np

from .frozen import NOISE, asked_for, asked_of_torch, fixed_by_name
from .tape import DrawRequest, Tape


def _names(text: str) -> list[str]:
    return text.split()


_GENERATOR = _names(
    "normal laplace gumbel logistic exponential rayleigh standard_normal standard_exponential "
    "standard_gamma standard_t standard_cauchy uniform random integers binomial geometric poisson "
    "negative_binomial hypergeometric multinomial multivariate_normal dirichlet gamma beta "
    "chisquare f pareto power triangular vonmises wald weibull zipf lognormal logseries bytes "
    "choice permutation shuffle permuted"
)
_LEGACY = [
    *(set(_GENERATOR) - {"random", "integers", "permuted"}),
    *["random", "randint", "random_integers", "rand", "randn", "random_sample", "tomaxint"],
]
_RANDOM = _names(
    "random uniform triangular gauss normalvariate expovariate gammavariate betavariate "
    "lognormvariate paretovariate weibullvariate vonmisesvariate choice choices sample shuffle "
    "randint randrange getrandbits randbytes"
)
_SECRETS = _names("randbits randbelow choice token_bytes token_hex token_urlsafe")
_JAX = _names(
    "normal laplace gumbel logistic uniform exponential cauchy t gamma truncated_normal bernoulli "
    "categorical choice permutation randint bits poisson binomial geometric rademacher ball"
)
_TORCH = _names(
    "randn rand normal randn_like rand_like randint randint_like randperm multinomial bernoulli "
    "poisson"
)
_TENSOR = _names("normal_ uniform_ exponential_ cauchy_ geometric_ log_normal_ bernoulli_ random_")

SEED = "seed of numpy.random"
"""The draw from the system that begins a generator without a seed."""


def install(tape: Tape) -> None:
    """Puts the tape before all sources that are known here; of JAX and PyTorch once imported."""
    _of_numpy(tape)
    _of_python(tape)
    sys.meta_path.insert(0, _Imported({"jax.random": _of_jax, "torch": _of_torch}, tape))


def _tape(tape: Tape, place: str, real: Callable[..., Any], method: bool) -> Callable[..., Any]:
    """The function with the tape before it; method: whether its first argument is the generator."""
    name = place.rsplit(".", 1)[1]

    @functools.wraps(real)
    def drawn(*given: Any, **named: Any) -> Any:
        own = given[method:]
        out = named.pop("out", None)
        if out is not None:  # filled with what is drawn, or played back
            out[...] = drawn(*given, **_like(out, name, named))
            return out
        call = functools.partial(real, *given, **named)
        if name == "shuffle":
            return _shuffle(tape, place, own[0] if own else named["x"], call)
        if name in ("choice", "permutation", "sample", "choices") and own and _is_listed(own[0]):
            return _places(tape, place, own, named, functools.partial(real, *given[:method]))
        return tape.draw(place, asked_for(name, own, named), call)

    return drawn


def _like(out: Any, name: str, named: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a draw that is as large as an array, where the function takes a size."""
    if name == "permuted":
        return named
    single = {} if out.dtype == np.float64 else {"dtype": out.dtype.type}
    return {**single, **named, "size": out.shape}


def _is_listed(first: Any) -> bool:
    return isinstance(first, Sequence | np.ndarray) and np.ndim(first) <= 1 and len(first) > 0


def _places(
    tape: Tape, place: str, own: Sequence[Any], named: dict[str, Any], real: Callable[..., Any]
) -> Any:
    """Draws places in a list, so that they can be played back in a list of other elements."""
    listed = own[0]
    every: Any = np.arange(len(listed))
    if place.startswith(("random.", "secrets.")):
        every = range(len(listed))
    given = asked_for(place.rsplit(".", 1)[1], own, named)
    at = tape.draw(place, given, lambda: real(every, *own[1:], **named))
    if isinstance(at, list):
        return [listed[i] for i in at]
    if isinstance(at, int | np.integer):
        return listed[at]
    return np.asarray(listed)[at]


def _shuffle(tape: Tape, place: str, listed: Any, call: Callable[[], Any]) -> None:
    """Shuffles in place, by an order that can be played back."""
    before = list(listed) if not isinstance(listed, np.ndarray) else listed.copy()

    def order() -> list[int]:
        marks: Any = list(range(len(before)))
        return _order(call, listed, marks)

    at = tape.draw(place, DrawRequest({"of": len(before)}, noise=False), order)
    for position, origin in enumerate(at):
        listed[position] = before[origin]


def _order(call: Any, listed: Any, marks: list[int]) -> list[int]:
    """The order that the generator of `call` gives to as many marks as there are elements."""
    generator = call.func
    others = [marks if given is listed else given for given in call.args]
    generator(*others, **{k: marks if v is listed else v for k, v in call.keywords.items()})
    return marks


def taped_class(tape: Tape, base: type, names: Sequence[str]) -> type:
    """A class of `numpy.random` with the tape before its methods of these names."""
    own = {
        name: _tape(tape, f"numpy.random.{base.__name__}.{name}", getattr(base, name), True)
        for name in names
        if hasattr(base, name)
    }
    return type(base.__name__, (base,), {**own, "__module__": base.__module__})


def _of_numpy(tape: Tape) -> None:
    place = "numpy.random"

    legacy = taped_class(tape, np.random.RandomState, _LEGACY)
    generator = taped_class(tape, np.random.Generator, _GENERATOR)

    def default_rng(seed: Any = None) -> Any:
        if isinstance(seed, np.random.Generator):
            return seed
        real = _default_rng(seed)
        return generator(real.bit_generator)

    _default_rng = np.random.default_rng
    kept: Any = np.random
    kept.Generator, kept.RandomState, kept.default_rng = generator, legacy, default_rng
    kept.mtrand._rand = legacy(kept.mtrand._rand._bit_generator)
    for name in _LEGACY:
        if hasattr(np.random, name):
            setattr(kept, name, _tape(tape, f"{place}.{name}", getattr(np.random, name), False))

    def seed_bits(bits: int) -> Any:
        return tape.draw(SEED, DrawRequest({}, noise=False), lambda: _randbits(bits))

    _randbits = secrets.randbits
    kept.bit_generator.randbits = seed_bits


def _of_python(tape: Tape) -> None:
    for base in (random.Random, random.SystemRandom):
        for name in _RANDOM:
            if name in vars(base) or (base is random.Random and hasattr(base, name)):
                taped = _tape(tape, f"random.{base.__name__}.{name}", getattr(base, name), True)
                setattr(base, name, taped)
    kept: Any = random
    for name in _RANDOM:
        setattr(kept, name, getattr(kept._inst, name))
    for name in _SECRETS:
        setattr(secrets, name, _tape(tape, f"secrets.{name}", getattr(secrets, name), False))
    kept_os: Any = os
    kept_os.urandom = kept._urandom = _tape(tape, "os.urandom", os.urandom, False)


def _of_jax(module: ModuleType, tape: Tape) -> None:
    """`jax.random`: what is traced, as under `jit`, is left as it is, for its key is frozen."""
    import jax

    def native(value: Any) -> Any:
        return jax.numpy.asarray(value)

    for name in _JAX:
        if hasattr(module, name):
            real = getattr(module, name)
            setattr(module, name, _tape_jax(tape, name, real, jax.core.Tracer, native))


def _tape_jax(
    tape: Tape, name: str, real: Callable[..., Any], tracer: type, native: Callable[[Any], Any]
) -> Callable[..., Any]:
    @functools.wraps(real)
    def drawn(*given: Any, **named: Any) -> Any:
        arguments = dict(inspect.signature(real).bind(*given, **named).arguments)
        if any(isinstance(value, tracer) for value in arguments.values()):
            return real(*given, **named)
        arguments.pop("key", None)
        arguments["size"] = arguments.pop("shape", None)
        what = DrawRequest(fixed_by_name(arguments, {}), noise=name in NOISE)
        call = functools.partial(real, *given, **named)
        return tape.draw(f"jax.random.{name}", what, call, native, np.asarray)

    return drawn


def _of_torch(module: ModuleType, tape: Tape) -> None:
    torch: Any = module

    def native(value: Any) -> Any:
        return torch.from_numpy(np.asarray(value).copy())

    def plain(tensor: Any) -> Any:
        return tensor.detach().cpu().numpy().copy()

    def function(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(real)
        def drawn(*given: Any, **named: Any) -> Any:
            call = functools.partial(real, *given, **named)
            return tape.draw(
                f"torch.{name}", asked_of_torch(name, given, named), call, native, plain
            )

        return drawn

    def in_place(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(real)
        def drawn(tensor: Any, *given: Any, **named: Any) -> Any:
            what = asked_of_torch(name[:-1], given, named)
            what = replace(what, fixed={**what.fixed, "size": tuple(tensor.shape)})
            call = functools.partial(real, tensor, *given, **named)
            found = tape.draw(f"torch.Tensor.{name}", what, call, native, plain)
            return tensor if found is tensor else tensor.copy_(found)

        return drawn

    for name in _TORCH:
        setattr(torch, name, function(name, getattr(torch, name)))
    for name in _TENSOR:
        setattr(torch.Tensor, name, in_place(name, getattr(torch.Tensor, name)))


class _Imported(importlib.abc.MetaPathFinder):
    """Calls a function on a module once it is imported."""

    def __init__(self, after: dict[str, Callable[[ModuleType, Tape], None]], tape: Tape) -> None:
        self._after, self._tape = after, tape

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of the others, its loader wrapped."""
        after = self._after.pop(fullname, None)
        if after is None:
            return None
        found = importlib.util.find_spec(fullname)
        if found is None or found.loader is None:
            return found
        real = found.loader.exec_module
        loader: Any = found.loader

        def loaded(module: ModuleType) -> None:
            real(module)
            after(module, self._tape)

        loader.exec_module = loaded
        return found
