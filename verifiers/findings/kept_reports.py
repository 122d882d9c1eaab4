"""Reports that were kept: a report.json, a folder of `--report`, or several of either by name."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from .opening import EarlierReportError, read_json
from .report import Report


def read_reports(path: Path) -> dict[str, Report]:
    """The reports at a path, by the names of their targets; of one alone "".

    path: what `verify --json` printed or `--report` wrote, of one target or of several; or a folder
    of files NAME.json, or of folders NAME with a report.json. Raises EarlierReportError for what
    holds no report, or anything else beside them.
    """
    found: dict[str, Report] = {}
    for name, file in _files(path):
        content = read_json(file)
        several = isinstance(content, dict) and "checks" not in content
        within = content.get("reports") if several else {"": content}
        if not isinstance(within, dict) or not within:
            raise _no_report(file)
        for target, public in within.items():
            found[target or name] = _report(public, file)
    return found


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    """Names and files of reports; a report.json in the folder itself is the only one."""
    own = path / "report.json"
    if not path.is_dir():
        yield "", path
    elif own.exists():
        yield "", own
    else:
        named = [(file.parent.name, file) for file in path.glob("*/report.json")]
        named = named or [(file.stem, file) for file in path.glob("*.json")]
        if not named:
            raise EarlierReportError(f"{path}: no report.json, NAME/report.json or NAME.json in it")
        yield from sorted(named)


def _report(public: Any, file: Path) -> Report:
    try:
        return Report.read(public)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise _no_report(file, f"{place}: {first['msg']}" if place else "") from None


def _no_report(file: Path, why: str = "") -> EarlierReportError:
    line = f"{file}: expected the report.json of a dpassay verify"
    return EarlierReportError(f"{line}; {why}" if why else line)
