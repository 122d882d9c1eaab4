"""A report as SARIF 2.1.0, which code scanning of GitHub, GitLab and editors read.

A result stands where it can be mended: at the line of a Python target, else at the claim. The rules
are the codes of the report. Source: OASIS, Static Analysis Results Interchange Format, 2.1.0.
"""

import ast
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..findings.codes import codes
from ..findings.fixes import explained
from ..findings.report import UNCODED, CheckResult, Report, Verdict
from ..text import printable

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {Verdict.FAIL: "error", Verdict.ERROR: "error", Verdict.INCONCLUSIVE: "warning"}


def sarif(report: Report, target: str | None, claim_file: str | None) -> str:
    """The log of a run, as JSON.

    Args:
        report: what the run found.
        target: as typed, None for the reference of this tool.
        claim_file: the path of the claim, None for an embedded one.
    """
    found = [_result(check) for check in report.checks if _is_told(check)]
    found += [_warning(note.code, note.message) for note in report.notes]
    rules = list(dict.fromkeys(result["ruleId"] for result in found))
    place = _place(target, claim_file)
    for result in found:
        result |= {"ruleIndex": rules.index(result["ruleId"]), "locations": place}
    driver = {
        "name": "dpassay",
        "version": version("dpassay"),
        "rules": [_rule(code) for code in rules],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": report.verdict is not Verdict.ERROR}],
        "results": found,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _is_told(check: CheckResult) -> bool:
    """Whether a check has a result: not one that another's failure has cut short."""
    return check.verdict in _LEVELS and not check.cut_short


def _result(check: CheckResult) -> dict[str, Any]:
    cause = f"; likely cause: {check.diagnosis}" if check.diagnosis else ""
    again = f" Reproduce: {check.reproduce}" if check.reproduce else ""
    return {
        "ruleId": check.code or UNCODED,
        "level": _LEVELS[check.verdict],
        "message": {"text": printable(f"{check.id}: {check.message}{cause}.{again}")},
        "partialFingerprints": {"dpassay/v1": f"{check.id}/{check.code or UNCODED}"},
    }


def _warning(code: str, message: str) -> dict[str, Any]:
    defect = code in codes() and codes()[code].what == "defect"
    return {
        "ruleId": code,
        "level": "warning" if defect else "note",
        "message": {"text": printable(message)},
        "partialFingerprints": {"dpassay/v1": f"warning/{code}"},
    }


def _rule(name: str) -> dict[str, Any]:
    known = codes().get(name)
    if known is None:
        return {"id": name, "shortDescription": {"text": "No code of the table"}}
    return {
        "id": name,
        "shortDescription": {"text": known.title},
        "fullDescription": {"text": known.sentence},
        "help": {"text": f"dpassay explain {name}", "markdown": explained(known)},
        "properties": {"tags": [known.what, *filter(None, [known.severity])]},
    }


def _place(target: str | None, claim_file: str | None) -> list[dict[str, Any]]:
    """Where results stand: at the definition of a Python target, else at the claim's first line."""
    path, line = claim_file, 1
    module, _, attribute = (target or "").rpartition(":")
    if module.endswith(".py") and Path(module).is_file():
        path, line = module, _line_of(Path(module), attribute.split(".")[0])
    if path is None:
        return []
    where = Path(path)
    address = where.as_uri() if where.is_absolute() else quote(where.as_posix())
    region = {"startLine": line}
    return [{"physicalLocation": {"artifactLocation": {"uri": address}, "region": region}}]


def _line_of(path: Path, name: str) -> int:
    """The line on which a file defines a name, 1 where it does so in no plain way."""
    try:
        body = ast.parse(path.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return 1
    for node in body:
        names = [getattr(node, "name", None)]
        if isinstance(node, ast.Assign):
            names += [one.id for one in node.targets if isinstance(one, ast.Name)]
        if name in names:
            return node.lineno
    return 1
