"""What a Python target looks like before anything is asked of it: how it is called, and its type.

`python -m dpassay.verifiers.init.look SPEC` prints that as JSON: the target is loaded in a process
of its own, as it is for a run.
"""

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from ..targets.replies import TargetError, one_line
from ..targets.spec import is_python, load
from .objects import read_object

_SECONDS = 120.0  # importing a deployment may load its models


@dataclass(frozen=True)
class Look:
    """How a target is asked.

    Attributes:
        spec: that names what is called, which may be a method of what was named.
        called: in words, such as `aggregate(histogram, size)`; None of a server or a program.
        input: the name of the parameter that takes the input; None where it is not known.
        gives_batches: whether it takes no input, as a sampler of batches does.
        said: what an object of a library says of its mechanism itself, as `Said.as_json` gives it.
    """

    spec: str
    called: str | None = None
    input: str | None = None
    gives_batches: bool = False
    said: dict[str, Any] | None = None


def look_at(target: Any, spec: str) -> Look:
    """Looks at a Python object. Raises TargetError for one that is no target."""
    kind = f"{type(target).__module__}.{type(target).__qualname__}"
    read = read_object(target)
    if read is not None:
        return Look(spec, read[0], said=read[1].as_json())
    sample = getattr(target, "sample", None)
    call: Callable[..., Any] | None = sample if callable(sample) else None
    if call is not None and _takes(call) == []:
        return Look(f"{spec}.sample", "sample()", gives_batches=True)
    if call is None and callable(target):
        call = target
    if call is None and callable(getattr(target, "aggregate", None)):
        call, spec = target.aggregate, f"{spec}.aggregate"
    if call is None and isinstance(target, Iterable):
        return Look(spec, "iter(...)", gives_batches=True)
    if call is None:
        raise TargetError(
            f"{spec}: a {kind} is neither callable nor has it a method sample or aggregate",
            code="target-not-found",
        )
    name, takes = getattr(call, "__name__", type(call).__name__), _takes(call)
    if takes is None:
        return Look(spec, f"{name}(...)")
    called = f"{name}({', '.join(takes)})"
    if len(takes) == 1:
        raise TargetError(
            f"{spec}: {called} takes one argument: expected (input, size), which gives so many "
            "releases",
            code="target-not-found",
        )
    return Look(spec, called, next(iter(takes), None), gives_batches=not takes)


def _takes(call: Callable[..., Any]) -> list[str] | None:
    """The names of what is given by place; None where Python does not say, or where any number."""
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return None
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [one.name for one in parameters if one.kind in places]


def looked_up(spec: str) -> Look:
    """Looks at the target of a spec, a Python one in a process of its own. Raises TargetError."""
    if not is_python(spec):
        return Look(spec)
    command = [sys.executable, "-m", __name__, spec]
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
        found = json.loads(ended.stdout)
    except subprocess.TimeoutExpired:
        raise TargetError(
            f"{spec}: importing it took more than {_SECONDS:g} s", code="target-not-started"
        ) from None
    except ValueError:
        last = one_line("\n".join(ended.stderr.strip().splitlines()[-1:]))
        raise TargetError(f"{spec}: importing it ended: {last}", code="target-not-found") from None
    if "error" in found:
        raise TargetError(found["error"], code=found["code"])
    return Look(**found)


def main(spec: str) -> None:
    """Prints what a spec names; what the target prints itself goes to stderr."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path.insert(0, os.getcwd())
    try:
        found = asdict(look_at(load(spec), spec))
    except TargetError as error:
        named = str(error) if str(error).startswith(spec) else f"{spec}: {error}"
        found = {"error": named, "code": error.code}
    replies.write(json.dumps(found))
    replies.flush()


if __name__ == "__main__":
    main(sys.argv[1])
