"""Objects of libraries that say their own mechanism, and the files that read them.

The libraries are not needed here: an object is recognised by the name of its type, and read by its
attributes. A further library is a file beside these, with `read(object) -> Said | None`, and a line
in `READERS`.
"""

from collections.abc import Callable
from importlib import metadata
from typing import Any

from . import diffprivlib, dp_accounting, opacus, opendp, pipeline_dp
from .said import Said

READERS: dict[str, tuple[str, Callable[[Any], Said | None]]] = {
    "diffprivlib": ("diffprivlib", diffprivlib.read),
    "dp_accounting": ("dp-accounting", dp_accounting.read),
    "opacus": ("opacus", opacus.read),
    "opendp": ("opendp", opendp.read),
    "pipeline_dp": ("pipeline-dp", pipeline_dp.read),
}
"""By the package of the type: the name under which it is installed, and what reads its objects."""


def read_object(it: Any) -> tuple[str, Said] | None:
    """What an object, or a tuple of objects, says of its mechanism, after what it is, in words.

    None where it is of no library that is known. Raises TargetError where it promises nothing.
    """
    for part in it if isinstance(it, tuple) else (it,):
        package = type(part).__module__.partition(".")[0]
        if package in READERS:
            installed, read = READERS[package]
            said = read(it)
            if said is not None:
                return f"{type(part).__qualname__} of {_version(installed)}", said
    return None


def _version(installed: str) -> str:
    try:
        return f"{installed} {metadata.version(installed)}"
    except metadata.PackageNotFoundError:
        return installed
