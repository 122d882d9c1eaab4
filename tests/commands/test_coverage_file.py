"""`dpassay verify --coverage FILE`: lines beside a pass, rules, and files that cannot be read.

Catches a file that is read before the target has ended, one of an earlier run told as this run's,
more than five lines, a pass that hides what `fail_on` lists, and a run begun in vain.
"""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from claims import COARSE, SMALL, in_toml
from small import small_claim
from typed import assert_misuse, typed

from dpassay.verifiers.commands.coverage_file import CoverageFile
from dpassay.verifiers.findings.report import Report
from dpassay.verifiers.inputs.input_error import InputError

FILE = "SF:{name}\n{lines}end_of_record\n"

PROGRAM = """
import json, random, sys

for line in sys.stdin:
    request = json.loads(line)
    reply = {"error": "no call"}
    if request["call"] == "aggregate":
        labels = []
        for _ in range(request["size"]):
            noisy = [v + random.gauss(0, 10) for v in request["histogram"]]
            labels.append(noisy.index(max(noisy)))
        reply = {"labels": labels}
    print(json.dumps(reply), flush=True)
with open("lcov.info", "w") as file:
    file.write("SF:server.go\\nDA:40,9\\nDA:41,0\\nend_of_record\\n")
"""


def _lcov(*never: int, name: str = "server.go") -> str:
    lines = "".join(f"DA:{line},{int(line not in never)}\n" for line in range(1, 40))
    return FILE.format(name=name, lines=lines)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "lcov.info"


def _added(report: Report, file: Path, text: str, **gate: list[str]) -> Report:
    coverage = CoverageFile(str(file))
    file.write_text(text)
    found, trouble = coverage.added(report, small_claim(gate=gate))
    assert trouble is None
    return found


def _told(report: Report) -> list[str]:
    return [one.message for one in report.notes if one.code == "coverage-never"]


def test_a_pass_names_what_nothing_ran(reports: Mapping[str, Report], file: Path) -> None:
    found = _added(reports["pass"], file, _lcov(5, 6, 9))
    assert _told(found) == [
        "not exercised by what was asked: server.go:5-6",
        "not exercised by what was asked: server.go:9",
    ]
    note = next(one for one in found.notes if one.code == "coverage-never")
    assert note.fields == {"file": "server.go", "line": 5, "last": 6, "branches": False}
    assert (found.verdict, found.checks) == ("pass", reports["pass"].checks)
    assert Report.read(json.loads(json.dumps(found.public()))).uncovered == found.uncovered


def test_five_lines_three_of_a_file_and_the_rest_in_the_report(
    reports: Mapping[str, Report], file: Path
) -> None:
    text = "".join(_lcov(5, 10, 15, 20, name=name) for name in ("a.go", "b.go", "c.go"))
    found = _added(reports["pass"], file, text)
    assert [one.rpartition(": ")[2] for one in _told(found)[:4]] == [
        *("a.go:5", "a.go:10", "a.go:15", "b.go:5")
    ]
    assert len(_told(found)) == 5
    assert _told(found)[4].endswith("b.go:10; 7 more in the JSON report")
    assert len(found.public()["uncovered"]) == 12


def test_paths_below_the_working_directory_are_told_from_there(
    reports: Mapping[str, Report], file: Path
) -> None:
    found = _added(reports["pass"], file, _lcov(5, name=f"{file.parent}/src/a.go"))
    assert _told(found)[0].endswith(" src/a.go:5")


def test_a_fail_is_left_as_it_is(reports: Mapping[str, Report], file: Path) -> None:
    assert _added(reports["fail"], file, _lcov(5)) is reports["fail"]


def test_fail_on_has_its_say(reports: Mapping[str, Report], file: Path) -> None:
    code = ["coverage-never"]
    found = _added(reports["pass"], file, _lcov(5), fail_on=code)
    assert (found.verdict, found.checks[-1].rule) == ("fail", "fail_on")
    assert "a rule of yours (fail_on)" in found.meaning
    file.unlink()
    allowed = _added(reports["pass"], file, _lcov(5), fail_on=code, allow=code)
    assert (allowed.verdict, allowed.waived) == ("pass", ("coverage-never",))
    file.unlink()
    assert _added(reports["pass"], file, _lcov(), fail_on=code).verdict == "pass"


def test_a_line_that_allow_names_is_spared_and_takes_no_place(
    reports: Mapping[str, Report], file: Path
) -> None:
    """Catches a spared line that hides the next one behind the limit of three of a file."""
    code, line = "coverage-never", "coverage-never:server.go:5"
    given = _lcov(5, 10, 15, 20)
    found = _added(reports["pass"], file, given, fail_on=[code], allow=[line])
    assert [one.rpartition(":")[2] for one in _told(found)] == ["10", "15", "20"]
    assert (found.verdict, found.waived) == ("fail", (line,))
    assert found.checks[-1].message.count("server.go") == 3
    file.unlink()
    rest = [f"coverage-never:server.go:{n}" for n in (5, 10, 15, 20)]
    spared = _added(reports["pass"], file, given, fail_on=[code], allow=rest)
    assert (spared.verdict, set(spared.waived), _told(spared)) == ("pass", set(rest), [])
    assert Report.read(json.loads(json.dumps(spared.public()))).waived == spared.waived


def test_a_file_of_before_the_run_says_so(reports: Mapping[str, Report], file: Path) -> None:
    file.write_text(_lcov(5))
    found, _ = CoverageFile(str(file)).added(reports["pass"], small_claim())
    assert [one.code for one in found.notes][-2:] == ["coverage-earlier", "coverage-never"]
    coverage = CoverageFile(str(file))
    file.write_text(_lcov(5, 7))
    os.utime(file, ns=(1, 1))
    anew, _ = coverage.added(reports["pass"], small_claim())
    assert "coverage-earlier" not in [one.code for one in anew.notes]


def test_a_file_that_the_run_did_not_leave_is_told_beside_the_pass(
    reports: Mapping[str, Report], file: Path
) -> None:
    found, trouble = CoverageFile(str(file)).added(reports["pass"], small_claim())
    assert found is reports["pass"]
    assert trouble is not None
    assert str(trouble) == f"--coverage {file}: No such file or directory"
    assert trouble.code == "file-not-found"


@pytest.mark.parametrize(
    ("text", "words"), [("", "no line of code"), ("mode: set\n", "line 1"), (None, "is no folder")]
)
def test_what_cannot_be_read_ends_before_the_run(
    file: Path, claim_file: str, text: str | None, words: str
) -> None:
    made = file.parent / "made"
    given = str(file)
    if text is None:
        file.write_text("")
        given += "/lcov.info"
    else:
        file.write_text(text)
    done = typed(
        "verify", f"exec:touch {made}", "--claim", claim_file, "--coverage", given, "--json"
    )
    assert_misuse(done, "dpassay: --coverage ", words)
    assert not made.exists()


def test_a_folder_that_is_not_there_ends_before_the_run(file: Path, claim_file: str) -> None:
    made = file.parent / "made"
    given = str(file.parent / "lost" / "lcov.info")
    done = typed("verify", f"exec:touch {made}", "--claim", claim_file, "--coverage", given)
    assert_misuse(done, f"--coverage {given}: no folder ", "make it before the run")
    assert done.stderr.endswith("[file-not-found]\n")
    assert not made.exists()


def test_a_file_that_the_run_has_to_make_is_named_before_the_first_question(
    file: Path, claim_file: str
) -> None:
    """A file that is there already is not: it will be told as one of before the run."""
    line = ("verify", "exec:", "--claim", claim_file, "--coverage", str(file))
    first, *_ = typed(*line).stderr.splitlines()
    assert first.startswith(f"dpassay: --coverage {file}: not there yet: ")
    file.write_text(_lcov(5))
    assert "not there yet" not in typed(*line).stderr


def test_a_folder_is_no_file(file: Path) -> None:
    with pytest.raises(InputError, match="a folder"):
        CoverageFile(str(file.parent))


def test_the_reference_has_no_code_of_its_own(file: Path) -> None:
    assert_misuse(typed("verify", "--coverage", str(file)), "--coverage FILE needs a TARGET")


@pytest.mark.slow("a pass")
def test_a_program_that_ends_by_itself_writes_its_file_before_it_is_read(file: Path) -> None:
    Path("program.py").write_text(PROGRAM)
    Path("claim.toml").write_text(in_toml(mechanism=SMALL, gate=COARSE))
    line = ["verify", f"exec:{sys.executable} program.py", "--claim", "claim.toml"]
    done = typed(*line, "--coverage", "lcov.info")
    assert done.returncode == 0, done.stdout + done.stderr
    said = "warning: not exercised by what was asked: server.go:41 [coverage-never]"
    assert said in done.stdout
    assert "coverage-earlier" not in done.stdout


@pytest.mark.slow("a pass")
def test_a_program_that_leaves_none_passes_and_ends_with_2(file: Path) -> None:
    Path("program.py").write_text(PROGRAM.replace("lcov.info", "other.info"))
    Path("claim.toml").write_text(in_toml(mechanism=SMALL, gate=COARSE))
    line = ["verify", f"exec:{sys.executable} program.py", "--claim", "claim.toml"]
    done = typed(*line, "--coverage", "lcov.info")
    assert "PASS" in done.stdout
    assert done.returncode == 2
    assert done.stderr == (
        "dpassay: --coverage lcov.info: not there yet: a tool of the target's language has to "
        "leave it by the end of the run\n"
        "dpassay: --coverage lcov.info: No such file or directory [file-not-found]\n"
    )
