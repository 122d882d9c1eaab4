"""One deployment, or the reference, held to its claim as options of `dpassay verify` say."""

import tomllib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..cli.exit_statuses import fail, on_stdout, open_or_fail
from ..cli.interrupts import Interrupts, remembered_interrupts
from ..cli.named_ledger import named_ledger
from ..cli.options import verify_line
from ..inputs.input_error import InputError, OptionsError, UnclaimedError
from ..text import printable
from .coverage_file import CoverageFile

if TYPE_CHECKING:
    from ..claims.claim import Claim
    from ..demos import Broken
    from ..findings.report import Report
    from ..reporting.files import ReportFolder, SarifFile
    from ..targets import Target

_MOST = 1000
"""Most histograms of one's own in a run; each is asked a hundred times, like an explorer."""

Votes = tuple[int, ...]
Show = Callable[["Report", str], None]
"""Prints a report of a target, which is named in words."""


class EndedRun(NamedTuple):
    """A run whose report is written and shown.

    trouble: why a file could not be written, or the file of --coverage read; interrupted: by
    Ctrl-C, also while it was written.
    """

    report: "Report"
    trouble: str | InputError | None
    interrupted: bool


def verify_target(given: dict[str, Any], show: Show, *, more: bool = False) -> EndedRun:
    """Asks a target, and writes and shows the report.

    given: the parameters of the command; more: whether other targets are still to come, so that
    Ctrl-C must go on to be heard. Ends the command where a run cannot begin.
    """
    from ...reference.clock import run_clock, untimed
    from ..demos import BROKEN
    from ..kinds.kind import REFERENCE
    from ..ledger.chain import LedgerError
    from ..reporting.files import ReportFileError, report_files
    from ..run.precision import TooFewError
    from ..targets import shown_spec

    target = given["target"]
    spec = None if target is None else shown_spec(target)
    demo = BROKEN.get(str(given["demo"]))
    try:
        claim, how = _read_request(spec, demo, given)
        coverage = _coverage_file(spec, given["coverage"])
        if given["build"] is not None and given["ledger"] is None:
            raise OptionsError("--build ID goes with --ledger FILE: nothing else looks at it")
        files = report_files(spec, given)
    except (ReportFileError, ValueError) as error:
        fail(error)
    name = spec or (REFERENCE if demo is None else demo.name)
    with (
        ExitStack() as undone,
        run_clock(claim.gate.run_timeout),
        remembered_interrupts() as interrupts,
    ):
        for file in files:
            undone.callback(file.undo)
        deployment = open_or_fail(target, claim) if demo is None else demo.target(claim.release)
        if coverage is not None:
            ending = getattr(deployment, "let_end", None)
            if ending is not None:
                ending()
        of_reference = spec is None and demo is None
        try:
            with named_ledger(given["ledger"], given["build"], target, claim) as ledger:
                report = _run(
                    deployment,
                    claim,
                    interrupts,
                    name=name,
                    of_reference=of_reference,
                    ledger=ledger,
                    **how,
                )
        except (LedgerError, TooFewError) as error:
            fail(error)
        finally:
            deployment.close()
        undone.pop_all()
        if interrupts.pressed:
            interrupts.say()
        unread = None
        if coverage is not None:  # once the target has ended, which may write it then
            report, unread = coverage.added(report, claim)
        with untimed():
            trouble = write_report(report, files, lambda: show(report, name)) or unread
        if not more:
            interrupts.until_exit()
    return EndedRun(report, trouble, interrupts.pressed or report.interrupted)


def write_report(
    report: "Report", files: "Sequence[ReportFolder | SarifFile]", show: Callable[[], None]
) -> str | None:
    """Writes a report's files, then shows it; why the files could not be written, if so."""
    troubles = [each.write(report) for each in files]  # stdout may be closed: first
    trouble = next(filter(None, troubles), None)
    kept = " and ".join(str(each.path) for each in files) or None
    with on_stdout(kept=None if trouble is not None else kept):
        show()
    return trouble


def _read_request(
    spec: str | None, demo: "Broken | None", given: dict[str, Any]
) -> "tuple[Claim, dict[str, Any]]":
    """The claim, and what the options ask of `run.verify`. Raises ValueError of one line."""
    from ..run.request import after_failure
    from ..run.selection import select

    if spec is not None and spec.endswith(".toml"):
        raise OptionsError(f"TARGET {spec}: a claim, not a target: it goes with --claim")
    if spec is not None and given["claim_file"] is None:
        raise OptionsError(f"TARGET {spec} needs --claim FILE: what should it be held to?")
    if given["queries"] is not None and given["max_queries"] is not None:
        raise OptionsError("--queries and --max-queries: give one or the other")
    claim, own = _read_given_claim(given)
    claim = claim.with_limits(
        given["max_queries"],
        given["max_seconds"],
        strict=given["strict"],
        no_paths=given["no_paths"],
        redact=given["redact"],
    )
    claim = claim.of_reference() if spec is None and demo is None else claim
    kind = claim.kind
    checks = given["checks"] or (() if demo is None or given["skipped"] else demo.checks)
    selection = select(checks, given["skipped"], of=kind.checks.ids)
    after = after_failure(given["keep_going"], given["stop_at_once"])
    if kind.not_chosen is None:
        own = own_histograms(given["typed"], given["file"], claim) + own
    elif given["typed"] or given["file"] is not None:
        option = "--histogram" if given["typed"] else "--histograms"
        raise OptionsError(f"{option}: the claim is of {kind.name}: {kind.not_chosen}")
    earlier = None if given["compare"] is None else kind.read_opening(given["compare"], claim)
    kind.ready(claim, selection)
    return claim, {
        "seed": given["seed"],
        "own": own,
        "reproduce": verify_line(spec, **given),
        "earlier": earlier,
        "selection": selection,
        "after_failure": after,
        "queries": given["queries"],
    }


def _coverage_file(spec: str | None, path: str | None) -> CoverageFile | None:
    """The file of --coverage. Raises InputError of one line."""
    if path is not None and spec is None:
        raise OptionsError("--coverage FILE needs a TARGET: nothing else has code of its own")
    if path is None:
        return None
    file = CoverageFile(path)
    if file.awaited is not None:
        click.echo(f"dpassay: {printable(file.awaited)}", err=True)
    return file


def _read_given_claim(given: dict[str, Any]) -> "tuple[Claim, list[tuple[int, ...]]]":
    """The claim, and inputs that come with an embedded one. Raises ValueError of one line."""
    from ..demos import BROKEN
    from ..kinds import kinds
    from ..kinds.labels.embedded import embedded_claim, embedded_histograms
    from ..kinds.reading import parse_claim, read_claim

    demo, claim_file = given["demo"], given["claim_file"]
    if demo is not None:
        demos = {name: broken.claim for name, broken in BROKEN.items()}
        demos |= {name: text for kind in kinds() for name, text in kind.demos.items()}
        if demo not in demos:
            raise ValueError(f"--demo {demo[:60]!r}: expected {', '.join(demos)}")
        if given["target"] is not None or claim_file is not None:
            raise OptionsError("--demo: an embedded example goes without TARGET and --claim")
        return parse_claim(tomllib.loads(demos[demo])), []
    if claim_file is None:
        return embedded_claim(), embedded_histograms()
    return read_claim(claim_file), []


def _run(deployment: "Target", claim: "Claim", interrupts: Interrupts, **how: Any) -> "Report":
    """The report, while a bar shows where the run stands; how: as `run.verify` takes it."""
    from ..reporting.terminal import progress_bar
    from ..run.events import Progress
    from ..run.run import verify as run

    with progress_bar() as show:

        def listener(progress: Progress) -> None:
            interrupts.run_is_over() if progress.over else interrupts.check()
            show(progress)

        return run(deployment, claim, listener=listener, **how)


def own_histograms(texts: Sequence[str], file: str | None, claim: Any) -> list[Votes]:
    """The distinct histograms in `texts`, typed as `12,7,6,30`, and in the rows of a CSV file.

    Raises ValueError with one line for a text that is none, other classes or another total than the
    claim's, votes that no input of the claim has, and too many histograms.
    """
    from ..inputs.histogram_file import read_histograms

    mechanism, known = claim.mechanism, {row.histogram for row in claim.given}
    of = f"{mechanism.teachers} teachers"
    if mechanism.weights is not None:
        of = f"{mechanism.total} votes of its teachers by their weights"
    named = [(f"--histogram {text[:60]}", _parse_typed(text)) for text in texts]
    if file is not None:
        rows = enumerate(read_histograms(file), 1)
        named += [(f"{file}, histogram {i}", row.histogram) for i, row in rows]
    for place, votes in named:
        if len(votes) != mechanism.classes or sum(votes) != mechanism.total:
            raise UnclaimedError(
                f"{place}: {len(votes)} classes and {sum(votes)} votes, but the claim has "
                f"{mechanism.classes} classes and {of}"
            )
        if known and votes not in known:
            raise UnclaimedError(
                f"{place}: no input of the claim has these votes, and no others are asked"
            )
    found = list(dict.fromkeys(votes for _, votes in named))
    if len(found) > _MOST:
        source = "--histogram" if file is None else file
        raise ValueError(f"{source}: {len(found):,} histograms: expected at most {_MOST:,}")
    return found


def _parse_typed(text: str) -> Votes:
    from ...reference import parse_histogram

    try:
        return tuple(int(votes) for votes in parse_histogram(text))
    except ValueError as error:
        raise ValueError(f"--histogram: {error}") from None
