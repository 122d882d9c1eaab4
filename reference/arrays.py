"""Which array library an array belongs to: one formula serves numpy and JAX."""

import sys
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = Any
"""A float64 array of numpy or of JAX; functions return the kind they were given."""

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
"""Arrays of numpy alone; their shapes stand in the docstrings."""


def is_jax(array: object) -> bool:
    """Whether `array` is a JAX array or tracer (never imports JAX)."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(array, jax.Array)


def namespace(array: object) -> Any:
    """The module (`numpy` or `jax.numpy`) whose functions take `array`."""
    return sys.modules["jax"].numpy if is_jax(array) else np
