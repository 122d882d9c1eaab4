"""Parses a TARGET, as typed on the command line, and opens it."""

import ast
import importlib
import importlib.util
import re
import shlex
import sys
from pathlib import Path
from typing import Any

from ...reference.entry_points import TARGETS, load_added
from ..text import did_you_mean
from .http_options import PLAIN_HTTP, HttpOptions
from .labels import LABELS
from .paced import PacedTarget
from .process import ProcessTarget
from .release import Release
from .replies import Target, TargetError, one_line, shown_spec
from .restart_command import RestartCommand

_OURS = ("exec", "http", "https")
_METHODS = ("ask", "rdp", "spent", "no_restart", "restart", "restart_contained", "close")
"""What a target that a package adds must have: see `Target`."""
_BINDING = {"globals", "vars", "locals", "exec", "setattr", "modules", "__dict__"}
"""What a module may bind names by that reading it does not tell."""
_ALLOWED = "expected package.module:attr, path/to/file.py:attr, http://host:port or exec:COMMAND"


def open_target(
    spec: str,
    timeout: float,
    restart: str | None = None,
    *,
    http: HttpOptions = PLAIN_HTTP,
    release: Release = LABELS,
    at_once: int = 1,
) -> PacedTarget:
    """Opens the target that `spec` names, starting its process if it has one.

    timeout: seconds per call; restart: the command that restarts what dpassay does not start (a
    server, or whatever the process is a client of); http: options of requests; release: the kind of
    inputs and replies; at_once: concurrent calls to a server. Raises TargetError with one line.
    """
    try:
        command = None if restart is None else RestartCommand(restart)
    except ValueError as error:
        raise TargetError(f"restart = {error}", code="target-option-wrong") from None
    added = _added(spec)
    if at_once > 1 and not is_server(spec):
        raise TargetError(
            f"concurrency = {at_once} in [gate]: only http://host:port is asked over parallel "
            f"connections, not {shown_spec(spec)}",
            code="target-option-wrong",
        )
    elsewhere = added is not None or is_server(spec) or spec.startswith("exec:")
    if release.only_python is not None and elsewhere:
        raise TargetError(
            f"{shown_spec(spec)}: {release.only_python} needs a Python target, "
            "path/to/file.py:connect, that opens the database",
            code="target-option-wrong",
        )
    if added is not None:
        reached: Target = _open_added(*added, spec, (timeout, command, release))
    elif is_server(spec):
        from .http import HttpTarget

        reached = HttpTarget(spec, timeout, command, release=release, options=http, at_once=at_once)
    elif spec.startswith("exec:"):
        reached = ProcessTarget(_command(spec), timeout, restart=command, release=release)
    else:
        split_spec(spec)
        reached = ProcessTarget.python(spec, timeout, command, release)
    return PacedTarget(reached, timeout, release=release)


def _added(spec: str) -> tuple[Any, str] | None:
    """What opens NAME:REST by an installed package, and its words; None for all forms of our own.

    Where a module NAME can be found, NAME:attr stays what it says. Raises TargetError.
    """
    scheme = re.match(r"([a-z][a-z0-9+-]*):", spec)
    if scheme is None or scheme[1] in _OURS or _can_be_found(spec):
        return None
    try:
        return load_added(TARGETS, scheme[1], _OURS)
    except ValueError as error:
        message = f"target {shown_spec(spec)!r}: {error}"
        raise TargetError(message, code="target-not-found") from None


def is_python(spec: str) -> bool:
    """Whether a spec is of a Python target: no server, no program, nothing that a package opens.

    Raises TargetError.
    """
    ours = is_server(spec) or spec.startswith("exec:")
    return not ours and _added(spec) is None


def is_python_spec(spec: str) -> bool:
    """Whether a text has the form of a Python target, whatever there is by that name."""
    module, _, attribute = spec.rpartition(":")
    if is_server(spec) or spec.startswith("exec:"):
        return False
    named = module.endswith(".py") or all(part.isidentifier() for part in module.split("."))
    return named and all(part.isidentifier() for part in attribute.split("."))


def _can_be_found(spec: str) -> bool:
    """Whether a spec names an attribute of a module that can be found, here or on Python's path."""
    module, attribute = spec.split(":", 1)
    if not attribute.replace(".", "").isidentifier():
        return False
    return any(Path(name).exists() for name in (module, f"{module}.py")) or (
        importlib.util.find_spec(module) is not None
    )


def _open_added(
    opener: Any, words: str, spec: str, arguments: tuple[float, RestartCommand | None, Release]
) -> Target:
    """The target by what an installed package adds. Raises TargetError with one line."""
    said = f"target {shown_spec(spec)!r}: {words}"
    try:
        found = opener(spec.partition(":")[2], *arguments)
    except TargetError:
        raise
    except Exception as error:
        raised = one_line(f"{type(error).__name__}: {error}")
        message = f"{said}: opening it raised {raised}"
        raise TargetError(message, code="target-not-started") from error
    lacking = [name for name in _METHODS if not hasattr(found, name)]
    if lacking:
        message = f"{said}: what it opened is no target, it lacks {', '.join(lacking)}"
        raise TargetError(message, code="target-not-found")
    target: Target = found
    return target


def is_server(spec: str) -> bool:
    """Whether a spec is the address of a server."""
    return spec.lower().startswith(("http://", "https://"))


def _command(spec: str) -> list[str]:
    """The argument list of `exec:COMMAND`. Raises TargetError."""
    try:
        command = shlex.split(spec.removeprefix("exec:"))
    except ValueError as error:
        message = f"target {spec!r}: {str(error).lower()}"
        raise TargetError(message, code="target-not-found") from None
    if not command or not command[0]:
        message = f"target {spec!r}: expected a command after exec:"
        raise TargetError(message, code="target-not-found")
    return command


def split_spec(spec: str) -> tuple[str, str]:
    """Module (or file) and attribute of a Python spec. Raises TargetError."""
    module, separator, attribute = spec.rpartition(":")
    if not separator or not module or not attribute.replace(".", "").isidentifier():
        message = f"target {shown_spec(spec)!r}: {_ALLOWED}{_meant(spec)}"
        raise TargetError(message, code="target-not-found")
    return module, attribute


def _meant(spec: str) -> str:
    """What a spec that is none was probably meant for; empty where nothing is likely."""
    if re.fullmatch(r"[\w.-]+:\d+(/.*)?", spec):
        return f"; did you mean http://{shown_spec(spec)}?"
    if spec.endswith(".toml"):
        return "; a claim is named by --claim"
    if spec.endswith((".csv", ".jsonl", ".parquet")):
        return "; a log is named by --log"
    if spec.endswith(".py"):
        return f"; name what answers, as in {shown_spec(spec)}:aggregate"
    return ""


def look_up(spec: str) -> None:
    """Raises TargetError with one line where a spec names a file that is not there."""
    if is_server(spec) or spec.startswith("exec:") or _added(spec) is not None:
        return
    module, _ = split_spec(spec)
    if module.endswith(".py") and not Path(module).is_file():
        raise TargetError(f"{shown_spec(spec)}: no file {module}", code="target-not-found")


def look_up_name(spec: str) -> None:
    """Raises TargetError with one line where a Python file surely has no such name at its top.

    The file is read and not run. A module, and a file whose names only running it tells, are left.
    """
    module, attribute = split_spec(spec)
    name = attribute.split(".")[0]
    if not module.endswith(".py"):
        return
    try:
        known = _names_of(ast.parse(Path(module).read_bytes()))
    except (OSError, SyntaxError, ValueError):
        return
    if known is not None and name not in known:
        near = did_you_mean(name, known)
        message = f"{shown_spec(spec)}: {module} has no attribute {name!r}{near}"
        raise TargetError(message, code="target-not-found")


def _names_of(tree: ast.Module) -> set[str] | None:
    """The names that a file binds at its top; None where only running it tells."""
    found, left = set[str](), list[ast.AST](tree.body)
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            found |= set(node.names)
        named = getattr(node, "attr", None) or getattr(node, "id", None)
        if named in _BINDING:
            return None
    while left:
        node = left.pop()
        if isinstance(node, ast.ImportFrom | ast.Import):
            found |= {(each.asname or each.name).split(".")[0] for each in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        else:
            found |= {str(getattr(node, key)) for key in ("name", "rest") if hasattr(node, key)}
            left += ast.iter_child_nodes(node)
    return None if found & {"*", "__getattr__"} else found


def load(spec: str) -> Any:
    """The object that a Python spec names, imported here. Raises TargetError with one line."""
    module_name, attribute = split_spec(spec)
    try:
        if module_name.endswith(".py"):
            found: Any = _load_file(Path(module_name))
        else:
            found = importlib.import_module(module_name)
    except FileNotFoundError:
        raise TargetError(f"{spec}: no file {module_name}", code="target-not-found") from None
    except Exception as error:
        raised = f"{type(error).__name__}: {error}".splitlines()[0]
        message = f"{spec}: importing it raised {raised}"
        raise TargetError(message, code="target-not-found") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            message = f"{spec}: {module_name} has no attribute {attribute!r}"
            raise TargetError(message, code="target-not-found")
        found = getattr(found, part)
    if isinstance(found, type):
        name = found.__name__.lower()
        name = "instance" if name == found.__name__ else name
        raise TargetError(
            f"{spec}: {attribute} is a class: name an instance of it, {module_name}:{name} where "
            f"{name} = {attribute}(...)",
            code="target-not-found",
        )
    return found


def _load_file(path: Path) -> Any:
    if not path.is_file():
        raise FileNotFoundError(path)
    sys.path.insert(0, str(path.resolve().parent))
    name = f"dpassay_target_{path.stem}"
    specification = importlib.util.spec_from_file_location(name, path)
    if specification is None or specification.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module
