"""A target, reached as its claim says: how long a call takes, what restarts it, what it takes."""

from typing import Any

from ..targets import (
    FreshStateCommand,
    InProcessTarget,
    PacedTarget,
    RestartCommand,
    TargetError,
    open_target,
)
from .claim import Claim


def open_claimed(spec: str, claim: Claim, *, plainly: bool = False) -> PacedTarget:
    """Starts the target that `spec` names, under `[gate]`, `[http]` and `[inputs]` of its claim.

    plainly: without the command that restarts it, and one call at a time. Raises TargetError of
    one line.
    """
    gate = claim.gate
    if not plainly:
        _look_up_commands(claim)
    return open_target(
        spec,
        gate.timeout,
        None if plainly else gate.restart,
        http=claim.http_options,
        release=claim.release,
        at_once=1 if plainly else gate.concurrency,
    )


def in_process(target: Any, claim: Claim) -> InProcessTarget:
    """A target handed over as a Python object.

    Raises ValueError for what is none, and TargetError for a claim with `concurrency`.
    """
    if claim.gate.concurrency > 1:
        raise TargetError(
            f"concurrency = {claim.gate.concurrency} in [gate]: only http://host:port is asked "
            "over parallel connections, not a Python object"
        )
    _look_up_commands(claim)
    restart = claim.gate.restart
    command = None if restart is None else RestartCommand(restart)
    return InProcessTarget(target, command, release=claim.release)


def _look_up_commands(claim: Claim) -> None:
    """Raises TargetError of one line where a command of `[gate]` is not there."""
    gate = claim.gate
    if gate.restart is not None:
        RestartCommand(gate.restart).look_up()
    if gate.fresh_state is not None:
        FreshStateCommand(gate.fresh_state, gate.timeout).look_up()
