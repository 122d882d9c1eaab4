"""A copy of a target's folder, with a working folder and an environment for a confined process.

Targets keep files beside themselves, so that a working folder of their own is not enough.
"""

import importlib.util
import os
import re
import shutil
import site
import stat
import tempfile
from collections.abc import Collection, Iterator
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import TracebackType
from typing import Self

from ..targets.replies import TargetError, one_line, shown_spec
from ..targets.spec import is_python, split_spec
from .left_out import LeftOut

MOST_BYTES = 50_000_000
MOST_FILES = 5_000

_NOT_COPIED = {".git", ".hg", ".svn", "__pycache__", "node_modules", "site-packages"}
_NOT_COPIED |= {".venv", "venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
_COMPILED = (".so", ".pyd", ".pyc")
_INSTALLED = {"site-packages", "dist-packages"}

_SECRET_NAME = re.compile("TOKEN|SECRET|PASS|KEY|CREDENTIAL|AUTH|PRIVATE|COOKIE|DSN", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"://[^/@\s]*:[^/@\s]+@")  # an address with a password
_OURS = __name__.partition(".")[0]


class Scratch:
    """A temporary folder with a copy of a Python target; it is removed at the end.

    As a context manager it raises LeftOut with one line for a target that cannot be copied: none in
    Python, in a zip, compiled, missing, or larger than 50 MB or 5,000 files. spec: the target,
    `path/file.py:attr` or `package.module:attr`; secrets: names of environment variables that the
    claim names; these, and all that look like a secret, are not in `environment`.
    """

    folder: Path
    """The one folder in which the confined process may write, without symbolic links."""
    cwd: Path
    """Where it is to be started: in the copy."""
    spec: str
    """The target in the copy."""
    copied_from: Path
    """The folder, or the one file, that was copied."""
    copied_to: Path
    environment: dict[str, str]
    withheld: tuple[str, ...]
    """Names of the variables that are not in `environment`, sorted."""

    def __init__(self, spec: str, secrets: Collection[str] = ()) -> None:
        self._given = spec
        self._secrets = frozenset(secrets)

    def __enter__(self) -> Self:
        self._name = shown_spec(self._given)
        self._kept = tempfile.TemporaryDirectory(prefix="dpassay-", ignore_cleanup_errors=True)
        self.folder = Path(self._kept.name).resolve()
        try:
            self._copy()
        except OSError as error:
            self._kept.cleanup()
            told = one_line(error.strerror or str(error))
            raise LeftOut(f"{self._name}: its folder cannot be copied: {told}") from None
        except BaseException:
            self._kept.cleanup()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._kept.cleanup()

    def _copy(self) -> None:
        try:
            if not is_python(self._given):
                raise LeftOut(f"{self._name} is no Python target")
            module, attribute = split_spec(self._given)
        except TargetError as error:
            raise LeftOut(str(error)) from None
        if module.endswith(".py"):
            self._check_file(Path(module))
            path = Path(module).resolve()
            self.copied_from, self.copied_to = path.parent, self._in_scratch(path.parent)
            self.spec = f"{self.copied_to / path.name}:{attribute}"
            root, self.cwd = self.copied_to, self.copied_to / _below(self.copied_from)
        else:
            place, self.spec = self._found(module), self._given
            is_folder = place.is_dir() or place.parent.name in _INSTALLED
            self.copied_from = place if is_folder else place.parent
            self.copied_to = self._in_scratch(self.copied_from)
            root = self.cwd = self.copied_to.parent if is_folder else self.copied_to
        self._copy_files()
        self.cwd.mkdir(parents=True, exist_ok=True)
        self.environment, self.withheld = self._environment(root)

    def _in_scratch(self, path: Path) -> Path:
        return self.folder / "target" / (path.name or "root")

    def _check_file(self, path: Path) -> None:
        if path.is_file():
            return
        if any(parent.is_file() for parent in path.parents):
            raise LeftOut(f"{self._name} is in a zip, which is not copied")
        raise LeftOut(f"{self._name}: no file {one_line(str(path))}")

    def _found(self, module: str) -> Path:
        """The folder of a top package, or the file of a top module, found without importing it."""
        top, *inner = module.split(".")
        if top == _OURS:
            raise LeftOut(f"{self._name} is part of {_OURS}, which runs already")
        found = _specification(top)
        if found is None:
            raise LeftOut(f"{self._name}: no module {one_line(top)} was found")
        places = list(found.submodule_search_locations or [found.origin or ""])
        if len(places) != 1 or not Path(places[0]).is_absolute():
            raise LeftOut(f"{self._name}: {one_line(top)} has no one folder that could be copied")
        place = Path(places[0]).resolve()
        if not place.exists():
            self._check_file(place)
        if place.is_file():
            self._check_source(place.with_suffix(""), place)
            return place
        self._check_source(place.joinpath(*inner), place)
        return place

    def _check_source(self, module: Path, place: Path) -> None:
        """Raises LeftOut unless a module, a path without suffix, is there as text."""
        if module.with_name(module.name + ".py").is_file() or (module / "__init__.py").is_file():
            return
        beside = [*module.parent.glob(f"{module.name}.*"), *module.glob("__init__.*")]
        if any(path.name.endswith(_COMPILED) for path in beside):
            raise LeftOut(f"{self._name} is compiled: there is no Python text to search")
        if module.is_dir():
            raise LeftOut(f"{self._name}: a package without __init__.py has no such attribute")
        raise LeftOut(f"{self._name}: {one_line(module.name)} was not found in {place}")

    def _copy_files(self) -> None:
        source = self.copied_from
        if source.is_file():
            self.cwd.mkdir(parents=True)
            shutil.copy2(source, self.copied_to)
            return
        size = count = 0
        for path, status in self._files(source):
            size, count = size + status.st_size, count + 1
            if size > MOST_BYTES or count > MOST_FILES:
                raise LeftOut(
                    f"{self._name}: its folder {one_line(str(source))} is larger than 50 MB or "
                    "5,000 files: put the target into a folder of its own"
                )
            copy = self.copied_to / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)

    def _files(self, source: Path) -> Iterator[tuple[Path, os.stat_result]]:
        """The files to be copied, each with its status; folders and links to them are made."""
        for here, folders, files in os.walk(source, onerror=_raise):
            folder = Path(here)
            (self.copied_to / folder.relative_to(source)).mkdir(parents=True, exist_ok=True)
            for name in [name for name in folders if (folder / name).is_symlink()]:
                self._link(folder / name)
            folders[:] = [name for name in folders if self._is_copied(folder / name)]
            for path in (folder / name for name in files):
                if not path.resolve().is_relative_to(source):
                    continue
                try:
                    status = path.stat()
                except FileNotFoundError:
                    continue  # a link to nothing, or just removed
                if stat.S_ISREG(status.st_mode):
                    yield path, status

    def _is_copied(self, folder: Path) -> bool:
        skipped = folder.name in _NOT_COPIED or (folder / "pyvenv.cfg").is_file()
        return not skipped and folder != self.folder

    def _link(self, link: Path) -> None:
        """Links to a folder within the target's lead to the copy of that folder."""
        to = link.resolve()
        if to.is_relative_to(self.copied_from):
            copy = self.copied_to / link.relative_to(self.copied_from)
            copy.symlink_to(self.copied_to / to.relative_to(self.copied_from))

    def _environment(self, root: Path) -> tuple[dict[str, str], tuple[str, ...]]:
        """What is set for the child, and the names withheld; root: where its imports begin."""
        withheld = {
            name
            for name, value in os.environ.items()
            if name in self._secrets or _SECRET_NAME.search(name) or _SECRET_VALUE.search(value)
        }
        kept = {name: value for name, value in os.environ.items() if name not in withheld}
        home = self.folder / "home"
        places = {"HOME": home, "TMPDIR": self.folder / "tmp", "TEMP": self.folder / "tmp"}
        places |= {"TMP": self.folder / "tmp", "XDG_RUNTIME_DIR": self.folder / "run"}
        for kind in ("cache", "config", "data", "state"):
            places[f"XDG_{kind.upper()}_HOME"] = home / kind
        # numba keeps its beside what is installed, and matplotlib where it was told before
        places |= {"NUMBA_CACHE_DIR": home / "numba", "MPLCONFIGDIR": home / "matplotlib"}
        for place in places.values():
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        # first the copy; what is beside the original, or here, is still found, and read there
        paths = [str(root), *filter(None, [kept.get("PYTHONPATH")]), os.getcwd()]
        if self.copied_from.parent.name not in _INSTALLED:
            paths.append(str(self.copied_from.parent))
        made = {name: str(place) for name, place in places.items()}
        made["PYTHONPATH"] = os.pathsep.join(paths)
        made["PYTHONDONTWRITEBYTECODE"] = "1"
        made["PYTHONHASHSEED"] = "0"  # what is found must not depend on the order of sets
        if site.ENABLE_USER_SITE:  # else lost with HOME
            made["PYTHONUSERBASE"] = site.getuserbase()
        return kept | made, tuple(sorted(withheld))


def _raise(error: OSError) -> None:
    raise error


def _below(folder: Path) -> Path:
    """Where the current folder lies in another, relative to it; that folder itself if nowhere."""
    here = Path.cwd()
    return here.relative_to(folder) if here.is_relative_to(folder) else Path()


def _specification(top: str) -> ModuleSpec | None:
    """Of a top package, in the current folder first, as a target's process looks for it."""
    try:
        return PathFinder.find_spec(top, [os.getcwd()]) or importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
