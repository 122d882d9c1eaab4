"""A report for GitHub Actions: a summary of the job in Markdown, and annotations.

`python -m dpassay.verifiers.github DIR` reads `report.json` in DIR, or those of several targets,
`DIR/NAME/report.json`, appends the summary to the file
that GITHUB_STEP_SUMMARY names, and prints the annotations. `--before DIR`, the report of the run
before, and `--ledger FILE` let it say what became worse. The action runs it after its run; any
workflow that has a report can. What a report quotes may be a target's own words, so nothing of it
is ever Markdown, HTML, or a command to the runner.
"""

import getopt
import os
import re
import sys
from pathlib import Path

from .cli.exit_statuses import fail
from .findings.kept_reports import read_reports
from .findings.report import CheckResult, Report
from .inputs.input_error import InputError
from .ledger.comparison import Comparison, compared
from .text import counted, printable

_LONGEST = 2000  # characters of a text: a summary beyond 1 MiB is dropped as a whole
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")


def summary(report: Report, name: str = "") -> str:
    """The Markdown of a report: verdict, then checks, worst first.

    name: of its target, where there are several.
    """
    kind = "target" if report.asked else "log"
    facts = [f"{kind}: {report.target}"] if report.target is not None else []
    facts.append(f"claim: {report.claimed}")
    number = counted(report.queries, *(("query", "queries") if report.asked else ("row", "rows")))
    facts.append(f"{number} in {report.seconds:.1f} s")
    facts.append(f"seed {report.seed}")
    lines = [
        f"### {_titled(name, report.verdict.value)}",
        "",
        f"{_text(report.meaning)}\\",
        _text("; ".join(facts)),
        "",
        "| verdict | check | found |",
        "|---|---|---|",
    ]
    lines += [_row(check) for check in _ordered(report)]
    lines += [""] + [f"- warning: {_text(warning)}" for warning in report.warnings]
    return "\n".join(lines) + "\n"


def annotations(report: Report, name: str = "") -> list[str]:
    """Workflow commands, one per line: errors for what failed, warnings for what is inconclusive.

    One cause, one annotation, in the words of the first check that it has: the others are named,
    and those that it cut short are not. name: of its target, where there are several.
    """
    by_cause = dict[tuple[str, str], list[CheckResult]]()
    for check in _ordered(report):
        verdict = check.verdict.value
        if verdict in ("fail", "error", "inconclusive") and not check.cut_short:
            by_cause.setdefault((verdict, check.code or check.id), []).append(check)
    made = []
    for (verdict, _), checks in by_cause.items():
        level = "warning" if verdict == "inconclusive" else "error"
        ids = ", ".join(check.id for check in checks)
        made.append(_command(level, _titled(name, ids, verdict), _found(checks[0])))
    return made


def worse_since(folder: Path, before: Path | None, ledger: Path | None) -> tuple[str, list[str]]:
    """Markdown and annotations on what became worse; both are empty where nothing was to compare.

    folder: of the report; before: that of the run before; ledger: is not changed. A run that has
    added to it is laid beside the run before it in there, any other one beside the newest.
    """
    found, told, since = list[Comparison](), list[str](), list[str]()
    for name, earlier in (("the report before", before), ("the ledger", ledger)):
        if earlier is None:
            continue
        if not earlier.exists():
            told.append(f"{name} is not there: {earlier}")
            continue
        try:
            one = compared(earlier, None if earlier == ledger and _adds(folder) else folder)
        except InputError as error:
            told.append(f"{name} cannot be read: {error}")
            continue
        found.append(one)
        sides = [] if one.ledger is None else [one.ledger.before, one.ledger.after]
        since += [name] if one.ledger is None else [each.name for each in sides[:1] if each]
        told += [each.as_text() for each in sides if each]
    lines = [line for one in found[:1] for line in one.worse_lines()]
    for one in found[1:]:  # whose verdicts the reports have told
        moved = () if one.ledger is None else one.ledger.worse
        lines += [each.message for each in moved if each.what == "measured"]
    if not found and not told:
        return "", []
    head = f"{counted(len(lines), 'thing', 'things')} became worse" if lines else ""
    head = head or ("nothing became worse" if since else "nothing to compare with")
    head += f" since {' and '.join(since)}" if since else ""
    text = [f"### dpassay: {_text(head)}", "", *(f"- worse: {_text(line)}" for line in lines)]
    text += [f"- {_text(line)}" for line in told]
    more = f"{head}: the summary of the job says what"  # what failed has an annotation of its own
    shown = [_command("warning", "dpassay: worse", more)] if lines else []
    broken = [line for line in told if "cannot be read" in line]
    shown += [_command("warning", "dpassay: not compared", line) for line in broken]
    return "\n".join(text) + "\n", shown


def _adds(folder: Path) -> bool:
    """Whether the run of a report has added to a ledger; True of one that has left no report."""
    try:
        return all(report.ledger is not None for report in read_reports(folder).values())
    except InputError:
        return True


def _titled(name: str, *parts: str) -> str:
    return ": ".join(["dpassay", *([name] if name else []), *parts])


def _ordered(report: Report) -> list[CheckResult]:
    return sorted(report.checks, key=lambda check: check.gravity)


def _row(check: CheckResult) -> str:
    cells = [_text(check.verdict.value), _text(check.id), _text(_found(check))]
    if check.reproduce and not check.cut_short:  # said where the run was cut short
        cells[-1] += f"<br><code>{_text(check.reproduce)}</code>"
    return f"| {' | '.join(cells)} |"


def _found(check: CheckResult) -> str:
    cause = f"; likely cause: {check.diagnosis}" if check.diagnosis else ""
    return f"{check.message}{cause}"


def _text(text: str) -> str:
    """One line that Markdown shows as it is: a character reference never is structure."""
    return _PUNCTUATION.sub(lambda found: f"&#{ord(found[0])};", printable(text[:_LONGEST]))


def _command(level: str, title: str, message: str) -> str:
    """A workflow command, escaped as the runner reads it back."""
    data = printable(message[:_LONGEST]).replace("%", "%25")
    named = title.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={named}::{data}"


def main(arguments: list[str]) -> None:
    """Writes and prints; exits 2 where there is no report."""
    folder, before, ledger = _read(arguments)
    try:
        reports = read_reports(folder)
        text = "\n".join(summary(report, name) for name, report in reports.items())
        shown = [line for name, report in reports.items() for line in annotations(report, name)]
    except ValueError:
        reports = {}
        text = "### dpassay: no report\n\nThe run ended before it had one: its log says why.\n"
        shown = ["::error title=dpassay::there is no report: the log of the run says why"]
    worse, more = worse_since(folder, before, ledger)
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    if place:
        with open(place, "a", encoding="utf-8") as file:
            file.write(f"{text}\n{worse}" if worse else text)
    print("\n".join([*shown, *more]))
    sys.exit(0 if reports else 2)


def _read(arguments: list[str]) -> tuple[Path, Path | None, Path | None]:
    """The folder of the report, that of the run before, and the ledger."""
    try:
        options, named = getopt.gnu_getopt(arguments, "", ["before=", "ledger="])
        (folder,) = named
    except (getopt.GetoptError, ValueError):
        fail(
            "usage: python -m dpassay.verifiers.github [--before DIR] [--ledger FILE] DIR, the "
            "folder of a report, after that of the run before, and a ledger",
            code="option-not-allowed",
        )
    given = {name: Path(value) for name, value in options}
    return Path(folder), given.get("--before"), given.get("--ledger")


if __name__ == "__main__":
    main(sys.argv[1:])
