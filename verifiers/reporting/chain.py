"""How a chain is shown: lines at the terminal; index.html, chain.csv and chain.json in a folder."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from ...attacks.inference.chain import Chain
from ...attacks.inference.linkage import Linkage
from ...attacks.inference.measures import Estimate
from ...attacks.inference.through_answers import EndToEnd
from ..findings.of_run import versions
from ..text import counted, printable
from .charts import ACROSS, UPWARDS, Axis, line_through
from .files import ReportFileError, write_whole
from .page import page_environment

_ABOVE, _BELOW, _CLOSE = 6.0, 16.0, 24.0  # distances of a name from its line, in drawing units


def write_chain(found: Chain, public: dict[str, Any], folder: Path) -> None:
    """Writes the three files, each renamed into place; public: as JSON. Raises ReportFileError."""
    made = {
        "chain.csv": _csv(public["figures"]),
        "chain.json": json.dumps(public, indent=1) + "\n",
        "index.html": chain_page(found),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in made.items():
            write_whole(folder / name, text)
    except OSError as error:
        raise ReportFileError(f"--report {folder}: {error.strerror or error}") from None


def _csv(figures: Sequence[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(figures[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(figures)
    return text.getvalue()


def chain_page(found: Chain) -> str:
    """The HTML of a chain: tables, two curves, no scripts."""
    charts = {"students": student_chart(found), "answers": answers_chart(found)}
    page = page_environment().get_template("chain.html")
    return page.render(found=found, versions=versions(), charts=charts, estimate=with_interval)


def student_chart(found: Chain) -> dict[str, object]:
    """Accuracy of students over epsilon spent, a line per mechanism, and without privacy."""
    points: dict[str, list[tuple[float, float]]] = {}
    for (name, _), taught in found.students.items():
        points.setdefault(name, []).append((taught.answers.epsilon, taught.accuracy))
    every = [p for line in points.values() for p in line]
    most = max([epsilon for epsilon, _ in every] + [1e-9])
    lowest = min([accuracy for _, accuracy in every] + [found.baseline])
    x = Axis(0.0, 1.05 * most, *ACROSS)
    y = Axis(max(0.0, lowest - 0.1), 1.0, *UPWARDS)
    lines = {name: line_through(x, y, sorted(line)) for name, line in points.items()}
    marks = {name: [(x.place(e), y.place(a)) for e, a in line] for name, line in points.items()}
    return _chart(x, y, lines, marks, y.place(found.baseline))


def answers_chart(found: Chain) -> dict[str, object]:
    """Area under the ROC curve over the number of answers, and for who sees the votes."""
    x = Axis(1.0, float(max(*found.setting.queries, 2)), *ACROSS, True)
    places = [(float(end.cell.queries), end.through.auc.value) for end in found.through]
    direct = found.through[0].direct.auc.value
    lowest = min(direct, *(area for _, area in places))
    y = Axis(min(0.4, max(0.0, lowest - 0.1)), 1.0, *UPWARDS)
    marks = [(x.place(n), y.place(a)) for n, a in places]
    lines = {"through answers": line_through(x, y, places)}
    return _chart(x, y, lines, {"through answers": marks}, y.place(direct))


def _chart(
    x: Axis,
    y: Axis,
    lines: dict[str, str],
    marks: dict[str, list[tuple[float, float]]],
    limit: float,
) -> dict[str, object]:
    """A chart; the limit's name is above its line, or below if a curve ends just above it."""
    ends = [max(line)[1] for line in marks.values() if line]
    crossed = any(limit - _CLOSE < end < limit for end in ends)
    name = limit + _BELOW if crossed else limit - _ABOVE
    return {"x": x, "y": y, "lines": lines, "marks": marks, "limit": limit, "limit_name": name}


def print_chain(found: Chain) -> None:
    """Prints the chain on stdout, part by part."""
    for line in lines(found):
        click.echo(printable(line))


def lines(found: Chain) -> list[str]:
    """One line for each main figure; the report has all of them."""
    consensus, setting, task = found.consensus, found.setting, found.people.task
    lines = [
        f"{task.name}: {setting.teachers} teachers ({setting.learner}) trained on "
        f"{len(task.records):,} records, asked about {len(task.queries):,}; GNMax, sigma "
        f"{setting.sigma:g}",
        f"teachers: {percent(consensus.teacher_accuracy)} right one by one, "
        f"{percent(consensus.plurality_accuracy)} by plurality; "
        f"consensus {percent(consensus.consensus)}",
        f"epsilon is at delta {setting.delta:g}, and of the records that teachers are trained on: "
        "it protects nobody who is asked about",
        "areas are under the curve, 0.5 is a guess; in brackets, intervals of 95 %",
        "",
        f"student, on people it never saw ({percent(found.baseline)} without privacy):",
    ]
    for (name, budget), taught in found.students.items():
        lines.append(
            f"  {name}, epsilon at most {budget:g}: {counted(taught.given, 'label', 'labels')}, "
            f"{percent(taught.accuracy)} right, epsilon {taught.answers.epsilon:.2f} spent"
        )
    lines += of_linkage(found.linkage)
    attribute = found.people.attribute
    lines += ["", f"who has {attribute} ({found.people.hidden.sum()} people), by who sees votes:"]
    lines += of_votes(found.direct)
    lines.append("by who sees answers alone, and reads the votes from them:")
    lines += of_answers(found.through, "{:.2f}".format)
    return lines + _of_members(found) + _of_mitigations(found)


def of_votes(attacks: Mapping[str, Any]) -> list[str]:
    """A line for each attack, by name, of who sees the votes."""
    return [
        f"  {name}: area {with_interval(one.auc)}, {flags(one.recall, one.false_positive_rate)}"
        for name, one in attacks.items()
    ]


def of_answers(through: Iterable[EndToEnd], epsilon: Callable[[float], str]) -> list[str]:
    """A line for each attack of who sees answers alone; epsilon: how the cost is written."""
    return [
        f"  {counted(end.cell.queries, 'answer', 'answers')} about each: {percent(end.misplaced)} "
        f"of the votes misplaced, area {with_interval(end.through.auc)}, epsilon "
        f"{epsilon(end.epsilon)}"
        for end in through
    ]


def flags(recall: Estimate, false: Estimate) -> str:
    """How many of those who have the attribute are said to have it, and of the others."""
    return f"flags {percent(recall.value)} of them and {percent(false.value)} of the others"


def of_linkage(found: Linkage | None) -> list[str]:
    """The warning about a table whose columns name people; nothing where none stands alone."""
    if found is None or not found.alone:
        return []
    columns = counted(len(found.columns), "column", "columns")
    lines = [
        "",
        f"warning: {percent(found.alone / found.rows)} of the rows are the only ones with their "
        f"values of {columns}: who knows these of somebody finds the row",
    ]
    if found.pair_alone:
        pair = " and ".join(found.pair)
        lines.append(f"  by {pair} alone: {percent(found.pair_alone / found.rows)}")
    if found.strangers is not None:
        share, low, high = found.strangers.value, found.strangers.low, found.strangers.high
        lines.append(
            f"  a match is no proof: of people outside, {percent(share)} ({percent(low)} to "
            f"{percent(high)}) match one row of half the table"
        )
    return lines


def _of_members(found: Chain) -> list[str]:
    if not found.members:
        return []
    lines = ["", "who was a training record, found at 1 % false alarms:"]
    for member in found.members:
        seen, bound = "from the votes", "no bound: votes are not private"
        if member.labels is not None:
            seen = f"from {counted(member.labels, 'label', 'labels')}"
        if member.bound is not None:
            bound = f"epsilon allows up to {percent(member.bound)}"
        lines.append(f"  {seen}: {percent(member.tpr.value)} of members ({bound})")
    return lines


def _of_mitigations(found: Chain) -> list[str]:
    if not found.settings:
        return ["", "what a deployment can do is measured between two classes alone"]
    lines = ["", "what a deployment can do, against the attack through answers:"]
    for helped in found.settings:
        taught = helped.student
        student = "" if taught is None else f", a student right on {percent(taught.value)}"
        lines.append(
            f"  {helped.setting.name}: {percent(helped.misplaced.value)} of the votes misplaced, "
            f"area {helped.auc.value:.3f}; {percent(helped.utility.answered)} answered, "
            f"{percent(helped.utility.plurality)} as most teachers say{student}; "
            f"epsilon {helped.epsilon:.2f}"
        )
    return lines


def percent(share: float) -> str:
    """A share in per cent, with a decimal."""
    return f"{100 * share:.1f} %"


def with_interval(found: Estimate) -> str:
    """An estimate with the ends of its interval in brackets."""
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"
