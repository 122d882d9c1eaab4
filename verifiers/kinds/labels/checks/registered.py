"""The specs of all checks that the registry lists, found in their files."""

from collections.abc import Iterator
from functools import cache
from importlib import import_module

from ..registry import CHECKS, Entry
from .spec import CheckSpec


@cache
def specs() -> tuple[CheckSpec, ...]:
    """The specs of all checks, in the order of the report."""
    return tuple(spec for entry in CHECKS for spec in _specs_of(entry))


def _specs_of(entry: Entry) -> Iterator[CheckSpec]:
    for file in entry.files:
        module = import_module(f".{file}", __package__)
        found = [spec for spec in module.SPECS if spec.id == entry.id]
        if not found:
            raise ValueError(f"checks/{file}.py has no spec of {entry.id}")
        yield from found
