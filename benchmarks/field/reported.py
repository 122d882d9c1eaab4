"""Reports of the command line, read back, and what a page shows of them."""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from ..long_runs import ROOT


def reported(words: Sequence[str]) -> dict[str, Any]:
    """The report of a command `dpassay verify ...`, run from the repository's root."""
    asked = [sys.executable, "-m", "dpassay.verifiers.cli", *words[1:], "--json"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=ROOT)
    try:
        return dict(json.loads(done.stdout))
    except ValueError:
        last_line = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
        return {"verdict": "error", "checks": [], "queries": 0, "said": last_line}


def claimed(report: dict[str, Any]) -> str:
    """Mechanism and noise of a report's claim."""
    mechanism = report.get("claim", {}).get("mechanism", {})
    aggregates = mechanism.get("aggregates", {})
    noise = ", ".join(f"{name} {one['noise']}" for name, one in aggregates.items())
    return f"{mechanism.get('name', '')} {mechanism.get('noise', noise)}"


def diagnosis(report: dict[str, Any], failed: Sequence[dict[str, Any]]) -> str:
    """What a report says in short: the cause of a failure, an error, or its first warning."""
    if report["verdict"] == "error":
        errors = [c["message"] for c in report["checks"] if c["verdict"] == "error"]
        return str((errors or [report.get("said", "")])[0])
    if failed:
        message, diagnosis = (str(failed[0][key] or "") for key in ("message", "diagnosis"))
        return message if diagnosis in message else f"{message}; {diagnosis}"
    warnings = [str(each).split("; ")[0] for each in report.get("warnings", [])]
    more = f" ({len(warnings) - 1} more warnings)" if len(warnings) > 1 else ""
    return warnings[0] + more if warnings else "-"


def line(cells: Sequence[str]) -> str:
    """A line of a table in Markdown."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
