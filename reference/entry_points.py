"""What installed packages add to dpassay by entry points, imported where a name needs it.

Reading what is installed takes a tenth of a second, so none of our own names is asked for here.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

NOISE, TARGETS = "dpassay.noise", "dpassay.targets"
"""The groups."""


def added_names(group: str) -> list[str]:
    """The names that installed packages add to `group`, of which none is imported."""
    return sorted({point.name for point in _points(group)})


def load_added(group: str, name: str, ours: Collection[str]) -> tuple[Any, str] | None:
    """What an installed package adds to `group` by this name, with the words that name both.

    None where no package adds it.

    Args:
        group: `NOISE` or `TARGETS`.
        name: none of `ours`.
        ours: names that no package may add.

    Raises:
        ValueError: with one line that names package and entry point, where a package adds a name of
            ours, two add this one, or importing it fails.
    """
    points = _points(group)
    for point in points:
        if point.name in ours:
            raise ValueError(f"{_words(point)}: dpassay has its own {point.name}: remove it")
    named = [point for point in points if point.name == name]
    if not named:
        return None
    if len(named) > 1:
        raise ValueError(f"{_words(named[0])}, and {_words(named[1])}: expected one of that name")
    words = _words(named[0])
    try:
        return named[0].load(), words
    except Exception as error:
        raised = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ValueError(f"{words}: importing it raised {raised}") from error


def _points(group: str) -> "list[EntryPoint]":
    from importlib import metadata  # takes as long as the reading

    return sorted(metadata.entry_points(group=group), key=_words)


def _words(point: "EntryPoint") -> str:
    package = "a package" if point.dist is None else f"{point.dist.name} {point.dist.version}"
    return f"{package}, entry point {point.name} = {point.value} in {point.group}"
