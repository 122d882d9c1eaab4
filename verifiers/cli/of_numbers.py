"""`dpassay verify` of a deployment that releases numbers."""

from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.core import ParameterSource

from ..commands.exit_statuses import fail, lines_of, need
from .ending import end, told

if TYPE_CHECKING:
    from ..commands.interrupts import Interrupts
    from ..findings.report import Report
    from ..kinds.numbers.claim import NumbersClaim
    from ..kinds.numbers.opening import NumbersOpening
    from ..targets import Target

_REPEATED = (
    *("demo", "max_queries", "queries", "compare", "keep_going", "stop_at_once"),
    *("checks", "skipped"),
)
"""Parameters that stand in the command that repeats a run."""

_NOT_TAKEN = {
    "typed": "a run of numbers chooses its inputs itself",
    "file": "a run of numbers chooses its inputs itself",
}
"""Parameters of the command that a run of numbers does not take, and why."""


def claim_of_numbers(path: str) -> "NumbersClaim | None":
    """The claim in a file, where it is one of numbers; ends the command for one that is wrong."""
    from ..kinds.labels.claim import ClaimError, is_of_numbers, read_table
    from ..kinds.numbers.claim import parse_numbers_claim

    try:
        table = read_table(path)
        return parse_numbers_claim(table, path) if is_of_numbers(table) else None
    except ClaimError as error:
        fail(*lines_of(error))


def judge_numbers(context: click.Context, claim: "NumbersClaim", **given: Any) -> NoReturn:
    """Runs the gate for numbers and ends the command; given: the command's parameters."""
    from ...reference.clock import run_clock, untimed
    from ..commands.interrupts import remembered_interrupts
    from ..kinds.labels.planning.sharpest import TooFewError
    from ..kinds.numbers.embedded import REFERENCE
    from ..reporting.files import ReportFileError, ReportFolder
    from ..targets import shown_spec

    _refuse_others(context)
    target, claim_file, folder = given["target"], given["claim_file"], given["folder"]
    spec = None if target is None else shown_spec(target)
    name = REFERENCE if spec is None else spec
    try:
        claim = claim.with_limits(given["max_queries"], given["max_seconds"])
        how = _asked_for(spec, claim, given)
        files = None if folder is None else ReportFolder(folder, spec, claim_file)
    except (ReportFileError, ValueError) as error:
        fail(*lines_of(error))
    if how["selection"].keeps("gradient-leakage"):
        _try_model(claim)
    with run_clock(claim.gate.run_timeout), remembered_interrupts() as interrupts:
        deployment = opened_numbers(target, claim)
        try:
            report = _judged(deployment, claim, interrupts, name=name, **how)
        except TooFewError as error:
            fail(str(error))
        finally:
            deployment.close()
        if interrupts.pressed:
            interrupts.say()
        with untimed():
            trouble = told(report, files, name, given["as_json"])
        interrupts.until_exit()
    end(report, trouble)


def _judged(
    deployment: "Target", claim: "NumbersClaim", interrupts: "Interrupts", **how: Any
) -> "Report":
    """The report, while a bar shows where the run stands; how: as `verify_numbers` takes it."""
    from ..kinds.numbers.run import verify_numbers
    from ..reporting.terminal import progress_bar
    from ..run.events import Progress

    with progress_bar() as show:

        def listener(progress: Progress) -> None:
            interrupts.run_is_over() if progress.over else interrupts.check()
            show(progress)

        return verify_numbers(deployment, claim, listener=listener, **how)


def _asked_for(spec: str | None, claim: "NumbersClaim", given: dict[str, Any]) -> dict[str, Any]:
    """What the options ask of `verify_numbers`. Raises ValueError of one line."""
    from ..commands.target_options import check_target_options
    from ..commands.verify_line import verify_line
    from ..kinds.labels.gathering.diagnosis import after_failure
    from ..kinds.numbers.shares import SHARES
    from ..run.selection import select

    check_target_options(None, None, given["queries"], given["max_queries"])
    again = {key: given[key] for key in _REPEATED}
    return {
        "seed": given["seed"],
        "reproduce": verify_line(spec, claim=given["claim_file"], **again),
        "earlier": _earlier(given["compare"], claim),
        "selection": select(given["checks"], given["skipped"], SHARES),
        "after_failure": after_failure(given["keep_going"], given["stop_at_once"]),
        "queries": given["queries"],
    }


def _refuse_others(context: click.Context) -> None:
    """Ends the command for an option that has no meaning for numbers."""
    for parameter in context.command.params:
        why = _NOT_TAKEN.get(str(parameter.name))
        given = context.get_parameter_source(str(parameter.name)) is not ParameterSource.DEFAULT
        if why is not None and given:
            fail(f"{parameter.opts[0]}: the claim is of numbers: {why}")


def _try_model(claim: "NumbersClaim") -> None:
    """Ends the command where the claim names a model that will not do, before anything is asked."""
    from ..kinds.numbers.vendor_model import ModelError, model_of

    if claim.leakage is not None:
        need("[leakage] in the claim", "sklearn")
        try:
            model_of(claim)
        except ModelError as error:
            fail(str(error))


def _earlier(path: str | None, claim: "NumbersClaim") -> "NumbersOpening | None":
    """The opening of an earlier run, if one is to be compared with. Raises EarlierReportError."""
    from ..kinds.numbers.opening import read_numbers_opening
    from ..kinds.numbers.planning.sharpest import make_plan

    if path is None:
        return None
    return read_numbers_opening(path, claim, make_plan(claim, 0).inputs[0].exact)


def opened_numbers(target: str | None, claim: "NumbersClaim") -> "Target":
    """The target by its spec, the reference without one; ends the command where that fails."""
    from ...reference.clock import OutOfTime
    from ..claims.open_target import open_claimed
    from ..findings.report import Verdict
    from ..kinds.numbers.embedded import reference_target
    from ..targets import TargetError

    if target is None:
        return reference_target(claim)
    try:
        return open_claimed(target, claim)
    except TargetError as error:
        fail(str(error))
    except OutOfTime as ended:
        fail(f"{ended}: the target was not ready by then", status=Verdict.INCONCLUSIVE.exit_status)
