"""`dpassay verify` of a deployment that releases numbers."""

from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.core import ParameterSource

from ..commands.exit_statuses import fail, lines_of
from .ending import end, told

if TYPE_CHECKING:
    from ..numbers.claim import NumbersClaim
    from ..targets import Target

_TAKEN = frozenset(
    {"target", "claim_file", "folder", "max_queries", "max_seconds", "seed", "keep_going"}
    | {"as_json", "demo"}
)
"""Parameters of the command that a run of numbers takes."""


def claim_of_numbers(path: str) -> "NumbersClaim | None":
    """The claim in a file, where it is one of numbers; ends the command for one that is wrong."""
    from ..claim import ClaimError, read_table
    from ..numbers.claim import is_of_numbers, parse_numbers_claim

    try:
        table = read_table(path)
        return parse_numbers_claim(table, path) if is_of_numbers(table) else None
    except ClaimError as error:
        fail(*lines_of(error))


def judge_numbers(context: click.Context, claim: "NumbersClaim", **given: Any) -> NoReturn:
    """Runs the gate for numbers and ends the command; given: the command's parameters."""
    from ...reference.clock import run_clock, untimed
    from ..commands.interrupts import remembered_interrupts
    from ..commands.verify_line import verify_line
    from ..gate.events import Progress
    from ..numbers.embedded import REFERENCE
    from ..numbers.run import verify_numbers
    from ..reporting.files import ReportFileError, ReportFolder
    from ..reporting.terminal import progress_bar
    from ..targets import shown_spec

    _refuse_others(context)
    target, claim_file = given["target"], given["claim_file"]
    spec = None if target is None else shown_spec(target)
    name = REFERENCE if spec is None else spec
    try:
        folder = given["folder"]
        files = None if folder is None else ReportFolder(folder, spec, claim_file)
    except ReportFileError as error:
        fail(*lines_of(error))
    claim = claim.with_limits(given["max_queries"], given["max_seconds"])
    _try_model(claim)
    again = verify_line(
        spec,
        claim=claim_file,
        demo=given["demo"],
        max_queries=given["max_queries"],
        keep_going=given["keep_going"],
    )
    with run_clock(claim.gate.run_timeout), remembered_interrupts() as interrupts:
        deployment = _opened(target, claim)
        try:
            with progress_bar() as show:

                def listener(progress: Progress) -> None:
                    interrupts.run_is_over() if progress.over else interrupts.check()
                    show(progress)

                report = verify_numbers(
                    deployment,
                    claim,
                    seed=given["seed"],
                    listener=listener,
                    reproduce=again,
                    name=name,
                    keep_going=given["keep_going"],
                )
        finally:
            deployment.close()
        if interrupts.pressed:
            interrupts.say()
        with untimed():
            trouble = told(report, files, name, given["as_json"])
        interrupts.until_exit()
    end(report, trouble)


def _refuse_others(context: click.Context) -> None:
    """Ends the command for an option that has no meaning for numbers."""
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if parameter.name not in _TAKEN and source is not ParameterSource.DEFAULT:
            fail(f"{parameter.opts[0]}: the claim is of numbers, whose runs do not take it")


def _try_model(claim: "NumbersClaim") -> None:
    """Ends the command where the claim names a model that will not do, before anything is asked."""
    from ..numbers.vendor_model import ModelError, model_of

    if claim.leakage is not None:
        try:
            model_of(claim)
        except ModelError as error:
            fail(str(error))


def _opened(target: str | None, claim: "NumbersClaim") -> "Target":
    from ...reference.clock import OutOfTime
    from ..findings.report import Verdict
    from ..numbers.embedded import reference_target
    from ..targets import TargetError, open_target

    if target is None:
        return reference_target(claim)
    gate = claim.gate
    try:
        return open_target(
            target, gate.timeout, gate.restart, http=claim.http_options, release=claim.release
        )
    except TargetError as error:
        fail(str(error))
    except OutOfTime as ended:
        fail(f"{ended}: the target was not ready by then", status=Verdict.INCONCLUSIVE.exit_status)
