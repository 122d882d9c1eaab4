"""What `dpassay chain --report DIR` writes: index.html, chain.csv and chain.json."""

import csv
import io
import json
from pathlib import Path

from ...attacks.inference.chain import Chain
from ..commands.chain import COLUMNS, as_json, rows
from ..findings.report import versions
from .chain_text import with_interval
from .charts import ACROSS, UPWARDS, Axis, line_through
from .files import ReportFileError
from .page import page_environment

_ABOVE, _BELOW, _CLOSE = 6.0, 16.0, 24.0  # distances of a name from its line, in drawing units


def write_chain(found: Chain, folder: Path) -> None:
    """Writes the three files, each renamed into place. Raises ReportFileError."""
    made = {
        "chain.csv": _csv(found),
        "chain.json": json.dumps(as_json(found), indent=1) + "\n",
        "index.html": chain_page(found),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in made.items():
            part = folder / f".{name}.part"
            part.write_text(text)
            part.replace(folder / name)
    except OSError as error:
        raise ReportFileError(f"--report {folder}: {error.strerror or error}") from None


def _csv(found: Chain) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows(found))
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
    return _drawn(x, y, lines, marks, y.place(found.baseline))


def answers_chart(found: Chain) -> dict[str, object]:
    """Area under the ROC curve over the number of answers, and for who sees the votes."""
    x = Axis(1.0, float(max(*found.setting.queries, 2)), *ACROSS, True)
    places = [(float(end.cell.queries), end.through.auc.value) for end in found.through]
    direct = found.through[0].direct.auc.value
    lowest = min(direct, *(area for _, area in places))
    y = Axis(min(0.4, max(0.0, lowest - 0.1)), 1.0, *UPWARDS)
    marks = [(x.place(n), y.place(a)) for n, a in places]
    lines = {"through answers": line_through(x, y, places)}
    return _drawn(x, y, lines, {"through answers": marks}, y.place(direct))


def _drawn(
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
