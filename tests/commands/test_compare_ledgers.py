"""`dpassay compare` of ledgers: run by run, beside a report or another ledger, and the figure."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from claims import histogram
from small import small_claim
from typed import assert_misuse, typed

from dpassay.verifiers.evidence.parts import Parts
from dpassay.verifiers.evidence.scale import ScaleEvidence, scale_factors
from dpassay.verifiers.findings.finding import Finding
from dpassay.verifiers.findings.report import Report
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.ledger.ledger import digest_of, open_ledger
from dpassay.verifiers.reporting.charts import UPWARDS

CLAIM = small_claim()
NEEDED = float(np.log(1e3))
OTHER = parse_claim({"mechanism": histogram("laplace:2", 4)})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_RUN_NUMBER", raising=False)
    monkeypatch.delenv("CI_PIPELINE_IID", raising=False)


def of_scale(scale: float, draws: int = 4_000) -> Parts:
    """What normal draws of `scale` times the claimed scale bring, without their chance."""
    factors = scale_factors(0.1)
    evidence = ScaleEvidence(factors)
    evidence.add(-draws * (np.log(factors) + 0.5 * (scale / factors) ** 2))
    return evidence.parts


def run(
    file: str,
    parts: Parts,
    verdict: str | None = "pass",
    *,
    build: str = "a",
    claim: Any = CLAIM,
) -> None:
    """A run of a ledger that ends with this verdict; None: it does not end."""
    with open_ledger(file, claim, build, lambda _: None) as ledger:
        ledger.begin()
        carried = ledger.carried("noise-scale", 1.0, NEEDED)
        if carried.look(parts, 100) >= carried.needed:
            carried.told(lambda: Finding("too narrow", code="scale-too-small"))
        ledger.look(100)
        if verdict is not None:
            ledger.end(100, verdict)


def found(*line: str) -> tuple[list[str], dict[str, Any]]:
    """What became worse, by its kind, and the document; the status says as much."""
    done = typed("compare", *line, "--json")
    assert done.stderr == ""
    document: dict[str, Any] = json.loads(done.stdout)
    told = [one["what"] for one in document["ledger"]["worse"]]
    assert done.returncode == document["became_worse"] == bool(told)
    return told, document


def test_the_newest_run_is_laid_beside_the_one_before() -> None:
    """Catches the first run as the earlier one, and a failure that is worse every night."""
    none = Parts.whole(0.0)
    run("l.jsonl", none, "inconclusive")
    assert found("l.jsonl")[0] == []  # there is none before
    assert typed("compare", "l.jsonl").stdout.startswith("NOTHING TO COMPARE: fewer than two runs")
    run("l.jsonl", none, "pass")
    assert found("l.jsonl")[0] == []
    run("l.jsonl", Parts.whole(30.0), "fail")
    told, document = found("l.jsonl")
    assert told == ["verdict"]
    (one,) = document["ledger"]["worse"]
    assert one["code"] == "scale-too-small"
    assert "noise-scale (scale-too-small)" in one["message"]
    run("l.jsonl", none, "fail")
    assert found("l.jsonl")[0] == []
    run("l.jsonl", none, "pass", build="b")
    assert found("l.jsonl")[0] == []


def test_what_refutes_is_told_of_each_run() -> None:
    """A build after one that was refuted takes 6 times the evidence. Catches one for all runs."""
    run("l.jsonl", Parts.whole(30.0), "fail")
    run("l.jsonl", Parts.whole(0.0), "fail")
    for build in "bc":
        run("l.jsonl", Parts.whole(0.0), build=build)
    first, later = (float(np.log10(1e3 * least)) for least in (2, 6))
    told = typed("compare", "l.jsonl").stdout.splitlines()[-1]
    assert told.endswith(f"from noise-scale 10^{first:.1f} (10^{later:.1f} from run 3)")


def test_a_run_that_did_not_end_is_shown_and_not_judged() -> None:
    """Nor is it the earlier one: catches a run without a verdict that is taken for one."""
    run("l.jsonl", Parts.whole(0.0), "pass")
    run("l.jsonl", Parts.whole(0.0), None)
    told, document = found("l.jsonl")
    assert told == []
    assert [one["verdict"] for one in document["ledger"]["ledgers"][0]["runs"]] == ["pass", None]
    assert "did not end" in typed("compare", "l.jsonl").stdout
    run("l.jsonl", Parts.whole(0.0), "inconclusive")
    assert found("l.jsonl")[0] == ["verdict"]


def test_scales_of_two_builds_are_compared_each_by_its_own_runs() -> None:
    """Catches the scale of all runs together, in which six sound ones hide the seventh."""
    for _ in range(6):
        run("l.jsonl", of_scale(1.0))
    run("l.jsonl", of_scale(1.0), build="b")
    assert found("l.jsonl")[0] == []
    run("l.jsonl", of_scale(0.9), "fail", build="c")
    told, document = found("l.jsonl")
    assert told == ["verdict", "measured"]
    assert "build b, then" in document["ledger"]["worse"][1]["message"]
    runs = document["ledger"]["ledgers"][0]["runs"]
    scales = {one["build"]: one["scale"] for one in runs}
    assert [scales[build]["runs"] for build in "abc"] == [6, 1, 1]
    assert scales["c"]["high"] < 1.0 < scales["b"]["high"]
    run("l.jsonl", of_scale(1.0), build="d")
    assert found("l.jsonl")[0] == []  # back to the claim


def test_a_scale_is_of_the_runs_of_its_own_claim() -> None:
    """Catches what a build left under another claim, by which its noise is half of it."""
    run("l.jsonl", of_scale(1.0))
    run("l.jsonl", of_scale(0.5), "fail", claim=small_claim("confident-gnmax"))
    run("l.jsonl", of_scale(1.0), build="b")
    run("l.jsonl", of_scale(1.0))
    told, document = found("l.jsonl")
    assert told == []
    scales = [one["scale"] for one in document["ledger"]["ledgers"][0]["runs"]]
    assert [one["runs"] for one in scales] == [2, 1, 1, 2]
    assert scales[1]["high"] < scales[0]["low"]


def test_the_newest_runs_of_two_ledgers() -> None:
    """Either order: the second is the later one."""
    run("old.jsonl", Parts.whole(0.0))
    run("new.jsonl", Parts.whole(30.0), "fail")
    assert found("old.jsonl", "new.jsonl")[0] == ["verdict"]
    assert found("new.jsonl", "old.jsonl")[0] == []
    run("numbers.jsonl", Parts.whole(0.0), claim=OTHER)
    assert_misuse(typed("compare", "old.jsonl", "numbers.jsonl"), "labels and numbers")


def report(verdict: str, low: float, high: float, claim: Any = CLAIM) -> None:
    """Writes a report of noise between two scales, as report.json."""
    figure = {"noise": "gaussian:10", "claimed": 10.0, "confidence": "", "points": ()}
    check = {
        "id": "noise-scale",
        "verdict": verdict,
        "code": "scale-too-small" if verdict == "fail" else None,
        "message": "said",
        "measured": {"what": "scale", "low": low, "high": high, "confidence": 1.0 - 1e-7},
        "figures": {"scale": {**figure, "emptied": None}},
    }
    said = {"verdict": verdict, "meaning": "m", "claimed": "c", "queries": 1, "seconds": 1.0}
    tables = claim.model_dump(mode="json", exclude_none=True)
    more = {"seed": 7, "false_alarm": 1e-6, "versions": {"dpassay": "0.1.0", "python": "3"}}
    made = Report.read({**said, **more, "claim": tables, "checks": [check], "kind": "labels"})
    Path("report.json").write_text(json.dumps(made.public()))


@pytest.mark.parametrize(
    ("verdict", "ends", "worse"),
    [
        ("pass", (9.5, 10.5), []),
        ("fail", (9.5, 10.5), ["verdict"]),
        ("pass", (8.0, 9.0), ["measured"]),  # all of it: catches scales that are not over the claim
    ],
)
def test_a_report_beside_a_ledger(
    verdict: str, ends: tuple[float, float], worse: list[str]
) -> None:
    """As a pull request of a fork has it, whose run adds nothing."""
    for _ in range(3):
        run("l.jsonl", of_scale(1.0))
    report(verdict, *ends)
    before = Path("l.jsonl").read_bytes()
    assert found("l.jsonl", "report.json")[0] == worse
    assert Path("l.jsonl").read_bytes() == before
    report(verdict, *ends, claim=small_claim("confident-gnmax"))
    assert "differs: the claim" in typed("compare", "l.jsonl", "report.json").stdout


def test_a_claim_is_the_same_in_a_ledger_and_in_a_report() -> None:
    """Limits of a run say nothing of it."""
    report("pass", 9.5, 10.5, claim=CLAIM.with_limits(500, 60.0))
    run("l.jsonl", of_scale(1.0))
    document = found("l.jsonl", "report.json")[1]["ledger"]
    assert document["before"]["claim"] == document["after"]["claim"]
    tables = json.loads(Path("report.json").read_text())["claim"]
    assert digest_of(tables) == document["after"]["claim"]


def test_reading_changes_nothing() -> None:
    """Not even a line that was cut by a crash, nor a ledger that another run holds."""
    run("l.jsonl", Parts.whole(0.0))
    with open("l.jsonl", "ab") as file:
        file.write(b'{"entry":"begin"')
    files = [Path("l.jsonl"), Path("l.jsonl.seal")]
    before = [(file.read_bytes(), file.stat().st_mtime_ns) for file in files]
    done = typed("compare", "l.jsonl")
    assert done.returncode == 0
    assert "its last line was not written to the end" in done.stdout
    assert [(file.read_bytes(), file.stat().st_mtime_ns) for file in files] == before
    with open_ledger("l.jsonl", CLAIM, "a", lambda _: None):
        assert typed("compare", "l.jsonl").returncode == 0
    assert sorted(file.name for file in Path.cwd().iterdir()) == ["l.jsonl", "l.jsonl.seal"]


def test_what_cannot_be_read_is_one_line() -> None:
    run("l.jsonl", Parts.whole(0.0))
    text = Path("l.jsonl").read_text()
    Path("l.jsonl").write_text(text.replace('"pass"', '"fail"'))
    assert_misuse(typed("compare", "l.jsonl"), "changed", "[ledger-unusable]")
    Path("l.jsonl").write_text("")
    assert_misuse(typed("compare", "l.jsonl"), "emptied", "[ledger-unusable]")
    report("pass", 9.5, 10.5)
    assert_misuse(typed("compare", "report.json"), "no ledger: expected a second report, B")


def test_the_number_of_the_run_in_ci_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its gaps tell runs that were made without the ledger."""
    for number in ("7", "9"):
        monkeypatch.setenv("GITHUB_RUN_NUMBER", number)
        run("l.jsonl", Parts.whole(0.0))
    monkeypatch.delenv("GITHUB_RUN_NUMBER")
    run("l.jsonl", Parts.whole(0.0))
    runs = found("l.jsonl")[1]["ledger"]["ledgers"][0]["runs"]
    assert [one["ci"] for one in runs] == ["7", "9", None]


def test_the_figure_has_a_line_for_each_check_and_a_mark_for_each_build() -> None:
    """The mark of a run that refutes lies on the line that refutes, or above it."""
    for build in ("1.4.1", "1.4.1", "<b>&"):
        run("l.jsonl", Parts.whole(2.0), build=build)
    run("l.jsonl", Parts.whole(30.0), "fail", build="1.5")
    run("l.jsonl", Parts.whole(0.0), "fail", build="1.5")
    assert typed("compare", "l.jsonl", "--figure", "t.svg").returncode == 0
    drawn = ElementTree.parse("t.svg").getroot()
    spaced = "{http://www.w3.org/2000/svg}"
    marks = [float(one.get("cy", "")) for one in drawn.iter(f"{spaced}circle")]
    lines = [*drawn.iter(f"{spaced}line")]
    (limit,) = (float(one.get("y1", "")) for one in lines if one.get("class") == "limit")
    assert len(marks) == 5
    assert [mark <= limit for mark in marks] == [False, False, False, True, True]
    assert all(mark <= UPWARDS[0] for mark in marks)
    assert sum(one.get("class") == "build" for one in lines) == 3
    words = [one.text for one in drawn.iter(f"{spaced}text")]
    assert {"1.4.1", "<b>&", "1.5", "noise-scale"} <= set(words)


def test_a_figure_that_cannot_be_drawn_is_one_line() -> None:
    run("l.jsonl", Parts.whole(0.0), None)
    assert_misuse(
        typed("compare", "l.jsonl", "--figure", "t.svg"), "no run of the ledger has ended"
    )
    run("l.jsonl", Parts.whole(0.0))
    assert_misuse(typed("compare", "l.jsonl", "--figure", "t.png"), "expected a name in .svg")
    assert_misuse(typed("compare", "l.jsonl", "--figure", "no/t.svg"), "No such file or directory")
    report("pass", 9.5, 10.5)
    assert_misuse(
        typed("compare", "report.json", "report.json", "--figure", "t.svg"), "expected a ledger"
    )
