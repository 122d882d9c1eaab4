"""Targets by name and profiles, in dpassay.toml or pyproject.toml: `verify` and `plan` of them."""

import json
import re
from datetime import UTC, datetime
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from claims import COARSE, SMALL, in_toml
from documents import assert_published
from typed import assert_misuse, typed

from dpassay.verifiers.commands.verify_target import EndedRun
from dpassay.verifiers.findings.codes import codes
from dpassay.verifiers.findings.report import Report
from dpassay.verifiers.findings.verdict import Subject, Verdict
from dpassay.verifiers.reporting.overview import OverviewRow, write_overview
from dpassay.verifiers.targets import InProcessTarget
from dpassay.verifiers.targets.spec import load

HERE = Path(__file__).parent
EACH = import_module("dpassay.verifiers.commands.verify_each")
ONE = import_module("dpassay.verifiers.commands.verify")
TARGET = 'target = "agg.py:{0}"\nclaim = "claims/votes.toml"\n'
VOTES, COUNTS = (f"[targets.{name}]\n{TARGET}" for name in ("votes", "counts"))
FAIR = """import numpy as np
rng = np.random.default_rng()
def fair(votes, size):
    return (votes + rng.normal(0, 10, (size, len(votes)))).argmax(1)
"""
BATCHES = {"name": "batches", "sampling": "poisson:0.1", "records": 100}
REPORT = Report.read(
    json.loads(
        (Path(__file__).parents[1] / "reporting/earlier_reports/labels_533dd16f.json").read_text()
    )
).model_copy(update={"verdict": Verdict.INCONCLUSIVE})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of a repository with a claim and a target; a folder below is worked in."""
    for name in (".git", "claims", "below"):
        (tmp_path / name).mkdir()
    (tmp_path / "claims" / "votes.toml").write_text(in_toml(mechanism=SMALL, gate=COARSE))
    (tmp_path / "agg.py").write_text(FAIR)
    monkeypatch.chdir(tmp_path / "below")
    return tmp_path


@pytest.fixture
def asked(monkeypatch) -> list[dict[str, Any]]:
    """What each run is given, of runs that end at once: by name, and in order."""
    runs = []

    def run(given, show, more=False):
        runs.append(given)
        show(REPORT, "votes")
        return EndedRun(REPORT, None, interrupted=False)

    monkeypatch.setattr(EACH, "verify_target", run)
    monkeypatch.setattr(ONE, "verify_target", run)
    return runs


def of_seed(seed):
    return REPORT.model_copy(update={"seed": seed, "verdict": Verdict.FAIL})


def of(runs, *keys):
    return [tuple(run[key] for key in keys) for run in runs]


def test_all_targets_run_and_one_that_errs_stops_no_other(folder, monkeypatch) -> None:
    """From a folder below; paths are those of the file, that of an option the user's own."""
    (folder / "dpassay.toml").write_text(
        '[targets.broken]\ntarget = "agg.py:fair"\nclaim = "claims/none.toml"\n'
        '[targets.fair]\ntarget = "agg.py:fair"\nclaim = "claims/votes.toml"\nseed = 3\n'
    )
    monkeypatch.setattr(
        "dpassay.verifiers.commands.verify_target.open_or_fail",
        lambda target, claim: InProcessTarget(load(target)),
    )
    monkeypatch.setattr("dpassay.verifiers.run.run.verify", lambda *_, seed, **how: of_seed(seed))
    done = typed("verify", "--report", "out", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["verdict"]) == (1, "fail")
    assert_published("report", done.stdout)
    assert [(name, one["verdict"]) for name, one in found["reports"].items()] == [("fair", "fail")]
    assert found["reports"]["fair"]["seed"] == 3
    assert list(found["errors"]) == ["broken"]
    assert found["errors"]["broken"][0].endswith("[file-not-found]")
    written = json.loads((folder / "below" / "out" / "fair" / "report.json").read_text())
    assert written["queries"] == found["reports"]["fair"]["queries"]
    assert done.stderr.splitlines()[0] == "dpassay: configuration: ../dpassay.toml"
    assert "fair: FAIL: " in done.stderr


def overview(folder: Path) -> str:
    return (folder / "index.html").read_text()


@pytest.mark.slow("over half a second")
def test_a_page_over_all_reports_lies_beside_them(folder, monkeypatch) -> None:
    """Catches links to reports that there are none of, names unescaped, a verdict that is not the
    worst, and an empty folder of a target in error."""
    (folder / "agg.py").write_text("def fair(votes, size): raise RuntimeError('<b>no</b>')\n")
    (folder / "dpassay.toml").write_text(
        f"{VOTES.format('fair')}[targets.gone]\n{TARGET.format('<i>')}[targets.no]\n"
        'target = "agg.py:fair"\nclaim = "none.toml"\nreport = "elsewhere"\n'
        '[profiles.kept]\nreport = "kept"\n'
    )
    assert typed("verify", "--profile", "kept").returncode == 2
    page = overview(folder / "kept")
    assert "0 of 3 targets passed" in page
    assert "ERROR" in page
    assert "dpassay.toml, profile kept" in page
    assert re.findall(r'href="(.*?)"', page) == ["votes/index.html"]
    assert (folder / "kept" / "votes" / "index.html").is_file()
    assert "&lt;i&gt;" in page
    assert "<i>" not in page
    assert sorted(path.name for path in (folder / "kept").iterdir()) == ["index.html", "votes"]
    assert not (folder / "elsewhere").exists()


def test_what_stands_below_stands_in_the_report_of_a_target(folder, monkeypatch) -> None:
    """Catches a sentence of a report that promises what the page over reports does not show."""
    (folder / "dpassay.toml").write_text(f'{VOTES.format("fair")}report = "one"\n')
    meaning = Subject.DEPLOYMENT.meaning(Verdict.PASS, Verdict.PASS.meaning)
    assert "stands below" in meaning
    passed = REPORT.model_copy(update={"verdict": Verdict.PASS, "meaning": meaning})
    ended = EndedRun(passed, None, interrupted=False)

    def run(given, show, more):
        show(passed, "votes")
        return ended

    monkeypatch.setattr(EACH, "verify_target", run)
    done = typed("verify")
    assert done.returncode == 0
    assert "votes: PASS: " in done.stdout
    assert "stands below" not in done.stdout
    assert "stands in its report" in overview(folder / "one")
    assert "stands below" not in overview(folder / "one")


def test_a_page_says_what_codes_mean_before_it_names_them() -> None:
    failed = REPORT.checks[0].model_copy(
        update={"verdict": Verdict.FAIL, "code": "scale-too-small"}
    )
    report = REPORT.model_copy(update={"verdict": Verdict.FAIL, "checks": (failed,)})
    one = EACH.TargetRun(Verdict.FAIL, report)
    assert one.meanings == [codes()["scale-too-small"].sentence]
    assert one.causes == [f"{failed.id} [scale-too-small]"]


def test_a_page_says_an_error_rate_once(tmp_path) -> None:
    """Of all targets where they share it; catches one whose rate is told of another."""
    other = REPORT.model_copy(update={"false_alarm": 0.25})
    assert other.error_rate != REPORT.error_rate

    def rates(**reports: Report) -> str:
        rows = [
            OverviewRow(name, one.verdict, one, None, (), (), ()) for name, one in reports.items()
        ]
        assert write_overview(tmp_path, rows, "dpassay.toml", datetime.now(UTC)) is None
        return re.search("Error rate</dt><dd>(.*?)</dd>", overview(tmp_path))[1]

    assert rates(one=REPORT, two=REPORT).count(f"{REPORT.false_alarm:g}") == 1
    apart = rates(one=REPORT, two=other, three=REPORT).split("<br>")
    assert [line.partition(":")[0] for line in apart] == ["one, three", "two"]
    assert apart[1].endswith(" 0.25")


def test_the_row_of_a_failure_says_why_and_where_more_is() -> None:
    failed = next(check for check in REPORT.checks if check.id == "noise-scale").model_copy(
        update={"verdict": Verdict.FAIL, "diagnosis": "half of the noise"}
    )
    report = REPORT.model_copy(update={"verdict": Verdict.FAIL, "checks": (failed,)})
    row = EACH.TargetRun(Verdict.FAIL, report).row("votes", 5, "dpassay verify votes")
    assert row.endswith("; likely cause: half of the noise; more: dpassay verify votes")


def test_each_folder_of_reports_has_its_page(folder, asked) -> None:
    """Of the targets whose reports lie in it; none where none is asked for."""
    (folder / "dpassay.toml").write_text(
        f'{VOTES.format("fair")}report = "one"\n{COUNTS.format("fair")}report = "other"\n'
        f"[targets.third]\n{TARGET.format('fair')}"
    )
    typed("verify")
    assert "votes" in overview(folder / "one")
    assert "counts" not in overview(folder / "one")
    assert "counts" in overview(folder / "other")
    assert not (folder / "index.html").exists()


def test_a_page_that_cannot_be_written_is_an_error(folder, asked) -> None:
    (folder / "dpassay.toml").write_text(f'{VOTES.format("fair")}report = "one"\n')
    (folder / "one" / "index.html").mkdir(parents=True)
    done = typed("verify")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (2, "ERROR: 0 of 1 passed")
    assert "dpassay: one/index.html: cannot be written: Is a directory [file-not-written]" in (
        done.stderr
    )


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [
        (("pass", "pass"), 0),
        (("inconclusive", "pass"), 3),
        (("inconclusive", "error"), 2),
        (("error", "fail", "pass"), 1),
    ],
)
def test_the_exit_status_is_the_worst(folder, monkeypatch, verdicts, status) -> None:
    """Catches the largest number taken for the worst, and the last."""
    names = [f"t{number}" for number in range(len(verdicts))]
    (folder / "dpassay.toml").write_text("".join(f"[targets.{n}]\n{TARGET}" for n in names))
    left = [Verdict(verdict) for verdict in verdicts]

    def run(given, show, more):
        report = REPORT.model_copy(update={"verdict": left.pop(0)})
        show(report, "a target")
        assert more is bool(left)  # else Ctrl-C is ignored from the first report on
        return EndedRun(report, None, interrupted=False)

    monkeypatch.setattr(EACH, "verify_target", run)
    done = typed("verify")
    assert done.returncode == status
    rows = [line.split()[:2] for line in done.stdout.split("\n\n")[1].splitlines()]
    assert rows[:-1] == [[name, verdict] for name, verdict in zip(names, verdicts, strict=True)]


def test_a_fault_of_a_run_stops_no_other_and_an_interrupt_all(folder, monkeypatch) -> None:
    names = ("faulty", "unwritten", "stopped", "never")
    (folder / "dpassay.toml").write_text("".join(f"[targets.{n}]\n{TARGET}" for n in names))
    report = REPORT.model_copy(update={"verdict": Verdict.PASS})
    ways = [
        lambda: 1 / 0,
        lambda: EndedRun(report, "the disk is full", interrupted=False),
        lambda: EndedRun(REPORT, None, interrupted=True),  # while its report was written
    ]
    monkeypatch.setattr(EACH, "verify_target", lambda given, show, more: ways.pop(0)())
    done = typed("verify", "--json")
    errors = json.loads(done.stdout)["errors"]
    assert done.returncode == 2
    assert "ZeroDivisionError" in errors["faulty"][0]
    assert errors["unwritten"] == ["the disk is full [file-not-written]"]
    assert list(errors) == ["faulty", "unwritten", "never"]


def test_typed_options_win_over_the_profile_and_it_over_the_target(folder, asked) -> None:
    (folder / "dpassay.toml").write_text(
        f"{VOTES}queries = 9\nseed = 1\nskip = ['order']\n{COUNTS}"
        "[profiles.nightly]\nmax-queries = 7\nmax-seconds = 60\ncheck = ['noise-scale']\n"
    )
    keys = ("queries", "max_queries", "max_seconds", "seed", "checks", "skipped")
    typed("verify")
    typed("verify", "--profile", "nightly")
    typed("verify", "--profile", "nightly", "--queries", "5", "--seed", "2")
    alone, only = ("noise-scale",), (None, None, None, None, (), ())
    assert of(asked, *keys) == [
        (9, None, None, 1, (), ("order",)),
        only,
        (None, 7, 60.0, 1, alone, ()),
        (None, 7, 60.0, None, alone, ()),
        (5, None, 60.0, 2, alone, ()),
        (5, None, 60.0, 2, alone, ()),
    ]


def test_paths_of_a_profile_are_of_its_file_for_a_target_as_typed_too(folder, asked) -> None:
    """They were taken from the working directory."""
    (folder / "dpassay.toml").write_text(f'{VOTES}[profiles.ci]\nreport = "reports"\n')
    line = ("verify", "../agg.py:fair", "--claim", "../claims/votes.toml", "--profile", "ci")
    typed(*line)
    typed(*line, "--report", "mine")
    assert of(asked, "folder") == [(str(folder / "reports"),), ("mine",)]


@pytest.mark.parametrize(("report", "status"), [(("--report", "out"), 1), ((), 2)])
def test_what_is_written_is_not_lost_with_stdout(folder, monkeypatch, report, status) -> None:
    """A full disk behind stdout made a failure an error, though its report was written."""
    (folder / "dpassay.toml").write_text(VOTES)
    failed = REPORT.model_copy(update={"verdict": Verdict.FAIL})
    ended = EndedRun(failed, None, interrupted=False)
    monkeypatch.setattr(EACH, "verify_target", lambda given, show, more: ended)
    monkeypatch.setattr(EACH, "print", raise_full, raising=False)
    monkeypatch.setattr("dpassay.verifiers.cli.exit_statuses.forget_stdout", lambda: None)
    done = typed("verify", *report)
    assert done.returncode == status
    kept = f"what was found is in {folder / 'below' / 'out' / 'votes'}"
    assert (kept if report else "what was found is lost") in done.stderr


def raise_full(*_shown, **_how):
    raise OSError(28, "No space left on device")


def test_one_target_by_its_name(folder, asked) -> None:
    """It prints and ends as `verify TARGET` does; the file may spell keys as claims do."""
    (folder / "pyproject.toml").write_text(
        "[tool.dpassay.targets.votes]\n" + TARGET + 'max_queries = 5\nreport = "out"\n'
        "[tool.dpassay.targets.counts]\n" + TARGET
    )
    done = typed("verify", "votes", "--json")
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (3, "inconclusive")
    keys = ("target", "claim_file", "max_queries", "folder")
    assert of(asked, *keys) == [("agg.py:{0}", "claims/votes.toml", 5, "out/votes")]


def test_without_targets_the_embedded_default_runs(folder, asked) -> None:
    """Of a pyproject.toml of others, and of a file of profiles alone; and beside a claim."""
    (folder / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert typed("verify").stderr == ""
    (folder / "dpassay.toml").write_text("[profiles.quick]\nqueries = 9\n")
    assert typed("verify").stderr == ""
    typed("verify", "--profile", "quick")
    (folder / "dpassay.toml").write_text(VOTES)
    typed("verify", "--claim", "mine.toml")
    typed("verify", "--demo", "broken")
    keys = ("target", "claim_file", "queries", "demo")
    assert of(asked, *keys) == [
        (None, None, None, None),
        (None, None, None, None),
        (None, None, 9, None),
        (None, "mine.toml", None, None),
        (None, None, None, "broken"),
    ]


def test_the_nearest_file_counts_up_to_the_root_of_the_repository(folder, asked) -> None:
    """Catches one that is found in whatever folder lies above, and pyproject.toml put first."""
    (folder.parent / "dpassay.toml").write_text(VOTES)
    try:
        assert "configuration" not in typed("verify").stderr
        (folder / "pyproject.toml").write_text(f"[tool.dpassay.targets.last]\n{TARGET}")
        assert "last: " in typed("verify").stdout
        (folder / "dpassay.toml").write_text(f"[targets.first]\n{TARGET}")
        assert "first: " in typed("verify").stdout
        (folder / "below" / "dpassay.toml").write_text(f"[targets.near]\n{TARGET}")
        assert "near: " in typed("verify").stdout
        (folder / ".git").rmdir()
        (folder / "below" / "dpassay.toml").unlink()
        assert "configuration" not in typed("verify").stderr
    finally:
        (folder.parent / "dpassay.toml").unlink()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{VOTES}querries = 9\n", ["targets.votes.querries", "(did you mean queries?)"]),
        (f"{VOTES}max-querys = 9\n", ["did you mean max-queries?", "max-seconds", "[unknown-key]"]),
        ("[target.votes]\n", ["target is no known key (did you mean targets?)"]),
        (f"{VOTES}queries = 0\n", ["targets.votes.queries = 0: expected a whole number from 1"]),
        (f"{VOTES}max-seconds = 'x'\n", ["'x': expected a finite number above 0 to 604800"]),
        ('[targets.votes]\nclaim = "a"\n', ["targets.votes.target is missing", "[missing-key]"]),
        (
            f"{VOTES}check = ['a']\nskip = ['b']\n",
            ["check and skip: give one", "[keys-do-not-fit]"],
        ),
        (f"[targets.'a:b']\n{TARGET}", ["targets.'a:b': expected a name"]),
        ("targets = 3\n", ["targets = 3: "]),
        ("[targets.votes\n", ["not TOML", "[not-toml]"]),
    ],
)
def test_a_wrong_configuration_is_one_line(folder, text, words) -> None:
    (folder / "dpassay.toml").write_text(text)
    assert_misuse(typed("verify"), "../dpassay.toml: ", *words)
    assert_misuse(typed("plan", "votes"), "../dpassay.toml: ", *words)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["verify", "vots"], ["(did you mean votes?)", "expected one of votes, counts"]),
        (["plan", "vots"], ["(did you mean votes?)"]),
        (["verify", "--profile", "nighty"], ["no profile", "(did you mean nightly?)"]),
        (["verify", "--sarif", "a.sarif"], ["--sarif: it goes with one target"]),
    ],
)
def test_what_is_not_there_names_the_nearest(folder, line, words) -> None:
    (folder / "dpassay.toml").write_text(f"{VOTES}{COUNTS}[profiles.nightly]\nqueries = 9\n")
    done = typed(*line)
    assert (done.returncode, done.stdout) == (2, "")
    for each in words:
        assert each in done.stderr


def test_a_profile_needs_a_configuration(folder) -> None:
    assert_misuse(typed("verify", "--profile", "quick"), "--profile quick", "dpassay.toml")
    assert_misuse(typed("verify", "votes"), "TARGET votes needs --claim FILE")
    assert_misuse(typed("plan"), "Missing option '--claim'", "[option-not-allowed]")


def test_plans_of_all_targets(folder) -> None:
    """Nothing is asked; a claim that cannot be read stops no other plan."""
    (folder / "claims" / "votes.toml").write_text(in_toml(mechanism=BATCHES))
    (folder / "dpassay.toml").write_text(
        VOTES + "check = ['repeats']\n"
        '[targets.wrong]\ntarget = "agg.py:fair"\nclaim = "none.toml"\n'
        "[profiles.quick]\nqueries = 2000\n"
    )
    done = typed("plan", "--json", "--profile", "quick")
    found = json.loads(done.stdout)
    assert done.returncode == 2
    assert (list(found["plans"]), list(found["errors"])) == (["votes"], ["wrong"])
    assert found["plans"]["votes"]["queries"] <= 2000
    lacking = {one["id"]: one["code"] for one in found["plans"]["votes"]["checks"]}
    assert (lacking["repeats"], lacking["inclusion"]) == (None, "left-out-by-choice")
    one = typed("plan", "votes", "--profile", "quick", "--json")
    assert json.loads(one.stdout) == found["plans"]["votes"]


def test_a_plan_asks_a_target_by_its_name_for_its_pace_alone(folder, monkeypatch) -> None:
    """--seconds is of a rate; it takes the place of `queries` in the file."""
    (folder / "dpassay.toml").write_text(f"{VOTES}queries = 2000\n")
    seen = []

    def planned(claim, queries, seconds, target, chosen):
        seen.append((queries, seconds, target))
        raise ValueError("seen")

    monkeypatch.setattr("dpassay.verifiers.commands.plan_each.planned_run", planned)
    monkeypatch.setattr(
        "dpassay.verifiers.commands.plan_each.open_or_fail", lambda target, claim: StringIO(target)
    )
    typed("plan", "votes")
    typed("plan", "votes", "--seconds", "100")
    (first, second) = seen
    assert first == (2000, None, None)
    assert second[:2] == (None, 100.0)
    assert second[2] is not None
