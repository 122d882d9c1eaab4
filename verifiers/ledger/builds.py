"""Which build of a target a run has asked: what its user calls it, or the digest of its files."""

import hashlib
import shlex
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path

from ..targets.spec import is_python_spec, is_server

UNKNOWN = "unknown"
"""The build of a target whose files are not here, and of which nothing is said."""

_MOST = 2_000  # files of a target
_SHOWN = 12  # digits of a digest


def build_of(spec: str | None) -> str:
    """The build of a target by what there is of its files: SHA-256, its first digits.

    spec: as the command takes it, None for the reference of dpassay. Of path/to/file.py:attr these
    are the Python files of that folder and below, of package.module:attr those of the package, of
    exec:COMMAND the files that the command names. `UNKNOWN` where there are none.
    """
    files = [] if spec is None or is_server(spec) else sorted(set(_files(spec)))
    if not files:
        return UNKNOWN
    found = hashlib.sha256()
    for file in files[:_MOST]:
        found.update(hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()[:_SHOWN]


def _files(spec: str) -> Iterator[Path]:
    if spec.startswith("exec:"):
        words = (Path(word) for word in shlex.split(spec.removeprefix("exec:")))
        yield from (path for path in words if path.is_file())
    elif is_python_spec(spec):
        module = spec.rpartition(":")[0]
        if module.endswith(".py"):
            yield from _below(Path(module).parent)
        else:
            yield from _of_module(module.split(".")[0])


def _of_module(name: str) -> Iterator[Path]:
    """The files of a module, or of a package, that can be found from here; it is not imported."""
    found = PathFinder.find_spec(name, [str(Path.cwd())]) or PathFinder.find_spec(name)
    if found is None:
        return
    for folder in found.submodule_search_locations or ():
        yield from _below(Path(folder))
    if found.origin is not None and not found.submodule_search_locations:
        yield Path(found.origin)


def _below(folder: Path) -> Iterator[Path]:
    """Python files of a folder and of those below it, but for hidden ones and environments."""
    for path in folder.iterdir():
        if path.name.startswith((".", "__pycache__")) or (path / "pyvenv.cfg").exists():
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _below(path)
        elif path.suffix == ".py":
            yield path
