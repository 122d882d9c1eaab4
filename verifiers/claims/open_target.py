"""Opens a target with the timeout, restart command and wire format of its claim."""

from typing import Any

from ..inputs.input_error import InputError
from ..targets import (
    InProcessTarget,
    PacedTarget,
    RestartCommand,
    Target,
    TargetError,
    open_target,
    shown_spec,
)
from ..targets.spec import is_python, is_python_spec, look_up, look_up_name
from .claim import Claim


def open_claimed(spec: str, claim: Claim, *, plainly: bool = False) -> PacedTarget:
    """Opens the target that `spec` names, under `[gate]`, `[http]` and `[inputs]` of its claim.

    plainly: without restart command and concurrency. Raises TargetError with one line.
    """
    gate = claim.gate
    if not plainly:
        _look_up_commands(claim)
        _look_up_source(spec, claim)
    return open_target(
        spec,
        gate.timeout,
        None if plainly else gate.restart,
        http=claim.http_options,
        release=claim.release,
        at_once=1 if plainly else gate.concurrency,
    )


def in_process(target: Any, claim: Claim) -> InProcessTarget:
    """A target that is a Python object.

    Raises ValueError for an object that is no target, TargetError for a claim with `concurrency`.
    """
    if claim.gate.concurrency > 1:
        raise TargetError(
            f"concurrency = {claim.gate.concurrency} in [gate]: only http://host:port is asked "
            "over parallel connections, not a Python object",
            code="target-option-wrong",
        )
    _look_up_commands(claim)
    restart = claim.gate.restart
    command = None if restart is None else RestartCommand(restart)
    return InProcessTarget(target, command, release=claim.release)


def _look_up_commands(claim: Claim) -> None:
    """Raises TargetError with one line where a command of `[gate]` cannot be found."""
    gate = claim.gate
    if gate.restart is not None:
        RestartCommand(gate.restart).look_up()
    if claim.fresh_target is not None:
        claim.fresh_target.look_up()
    _look_up_budget_target(claim)


def open_reference(claim: Claim) -> Target:
    """The reference implementation of a claim. Raises TargetError with one line."""
    _look_up_budget_target(claim)
    try:
        reference: Target = claim.kind.reference(claim)
    except ValueError as error:  # a package that is absent, or a claim that it cannot follow
        code = getattr(error, "code", InputError.code)
        raise TargetError(str(error), code=code) from None
    return reference


def _look_up_budget_target(claim: Claim) -> None:
    """Raises TargetError with one line where its file is not there, before a run has begun."""
    spec = claim.gate.budget_target
    try:
        if spec is not None:
            look_up(spec)
    except TargetError as error:
        raise TargetError(f"budget_target in [gate]: {error}", code=error.code) from None


def _look_up_source(spec: str, claim: Claim) -> None:
    """Raises TargetError with one line where a target has its source, or the named one is lost."""
    source = claim.gate.source_spec
    if source is None:
        return
    if is_python(spec):
        raise TargetError(
            f"source in [gate]: {shown_spec(spec)} is a Python target, whose own source is looked "
            "at: the key goes with http://host:port and exec:COMMAND",
            code="target-option-wrong",
        )
    look_up_all("source in [gate]", source)


def look_up_all(key: str, spec: str) -> None:
    """Raises TargetError, which names the key, where a file is not there, or a name in it."""
    try:
        look_up(spec)
        if is_python_spec(spec):
            look_up_name(spec)
    except TargetError as error:
        raise TargetError(f"{key}: {error}", code=error.code) from None
