"""What a monitor has learned, as bytes: the attributes that each class names in `SAVED`.

They hold arrays, what JSON can hold, or further such parts, by themselves, in a list or in a dict.
"""

import io
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray


def bytes_of(part: Any) -> bytes:
    """All that later rows depend on; numbers keep every bit. See `restore`."""
    arrays: list[NDArray[Any]] = []
    told = json.dumps(_told(part, arrays))
    kept = io.BytesIO()
    np.savez(kept, np.array(told), *arrays)
    return kept.getvalue()


def restore(part: Any, kept: bytes) -> None:
    """Restores what was saved of such a part.

    Raises ValueError, KeyError or TypeError for the state of another version.
    """
    with np.load(io.BytesIO(kept), allow_pickle=False) as file:
        told, *arrays = file.values()
    _put(part, _found(json.loads(str(told)), arrays))


def _told(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """A value as JSON, in which an array is its number in a list."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if hasattr(value, "SAVED"):
        value = {name: getattr(value, name) for name in value.SAVED}
    if isinstance(value, dict):
        return {"dict": {name: _told(each, arrays) for name, each in value.items()}}
    if isinstance(value, list | tuple):
        return [_told(each, arrays) for each in value]
    return value


def _found(told: Any, arrays: list[NDArray[Any]]) -> Any:
    """A value from JSON, with its arrays."""
    if isinstance(told, list):
        return [_found(each, arrays) for each in told]
    if not isinstance(told, dict):
        return told
    if "array" in told:
        return arrays[told["array"]]
    return {name: _found(each, arrays) for name, each in told["dict"].items()}


def _put(part: Any, found: dict[str, Any]) -> None:
    if found.keys() != set(part.SAVED):
        raise ValueError("it has other parts")
    for name, value in found.items():
        before = getattr(part, name)
        if hasattr(before, "SAVED"):
            _put(before, value)
        elif isinstance(before, list) and before and hasattr(before[0], "SAVED"):
            for one, saved in zip(before, value, strict=True):
                _put(one, saved)
        elif isinstance(before, dict) and any(hasattr(one, "SAVED") for one in before.values()):
            for key, one in before.items():
                _put(one, value[key])
        else:
            setattr(part, name, value)
