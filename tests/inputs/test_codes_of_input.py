"""What a command or a claim is refused for: one line for each mistake, which ends with its code."""

import re
from pathlib import Path

import pytest
from claims import SMALL, SMALL_TOML, gnmax, in_toml
from typed import typed

from dpassay.reference.parallel.workers import WorkersError
from dpassay.verifiers import assert_conforms
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.cli.options import working
from dpassay.verifiers.findings.codes import codes
from dpassay.verifiers.inputs.csv_rows import read_csv
from dpassay.verifiers.inputs.files import ReadingError, read_bytes
from dpassay.verifiers.inputs.input_error import InputError, RowsError, lines_of
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.targets import TargetError

NOISE = ("--noise", "gaussian:10")
ACCOUNT = ("--mechanism", "gnmax", *NOISE, "--delta", "1e-5")
ANY = in_toml(mechanism={"name": "any"}, privacy={"epsilon": 1.0, "delta": 0.0})
HEAD = "a,b,c,d,label\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a claim and a file of histograms that are right."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "claim.toml").write_text(SMALL_TOML)
    (tmp_path / "rows.csv").write_text("10,20,5,5\n")
    return tmp_path


def refused(*line: str) -> list[str]:
    """The codes on stderr of a command that is refused, one a line and each of the table."""
    done = typed(*line)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    found = [re.fullmatch(r"dpassay: .* \[([a-z-]+)\]", one) for one in done.stderr.splitlines()]
    assert all(found), done.stderr
    told = [one[1] for one in found if one is not None]
    assert set(told) <= {code.id for code in codes().values() if code.what in ("input", "power")}
    return told


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (SMALL_TOML + "[gate]\ntolerence = 0.1\n", "unknown-key"),
        ('[mechanism]\nname = "gnmax"\n', "missing-key"),
        (SMALL_TOML + "[gate]\ntolerance = 2\n", "value-not-allowed"),
        (SMALL_TOML + '[gate]\nlifetime = "ever"\n', "value-not-allowed"),
        (in_toml(mechanism=SMALL | {"noise": "laplace"}), "value-not-allowed"),
        (in_toml(mechanism=SMALL | {"name": "pate"}), "value-not-allowed"),
        (in_toml(mechanism=SMALL | {"threshold": 5.0}), "keys-do-not-fit"),
        (in_toml(mechanism=SMALL, gate={"fresh_state": "true"}), "keys-do-not-fit"),
        ("mechanism = \n", "not-toml"),
        (SMALL_TOML + '[inputs]\nfile = "none.jsonl"\n', "file-not-found"),
        (SMALL_TOML + '[inputs]\nfile = "."\n', "file-unreadable"),
        (SMALL_TOML + '[inputs]\nfile = "rows.csv"\n', "columns-wrong"),
        ('pairs = "none.csv"\n' + ANY, "file-not-found"),
        ('[mechanism]\nname = "any"\n', "missing-key"),
    ],
)
def test_a_claim_is_refused_with_a_code(folder: Path, text: str, code: str) -> None:
    """Also where the reader of another file says why, and the claim tells it again."""
    (folder / "claim.toml").write_text(text)
    assert refused("verify", "--claim", "claim.toml") == [code]


def test_each_mistake_of_a_claim_has_its_own_code() -> None:
    """Catches codes that are those of other lines, as some mistakes are told before others."""
    mechanism = {"name": "gnmax", "noize": "gaussian:40", "classes": 1}
    with pytest.raises(ClaimError) as raised:
        parse_claim({"mechanism": mechanism})
    assert raised.value.codes == ("unknown-key", "value-not-allowed", "missing-key")
    for line, code in zip(lines_of(raised.value), raised.value.codes, strict=True):
        assert line.endswith(f" [{code}]")
    assert raised.value.code == "unknown-key"


def test_the_line_that_counts_further_mistakes_has_no_code() -> None:
    unknown = {f"key{number}": 1 for number in range(12)}
    with pytest.raises(ClaimError) as raised:
        parse_claim({"mechanism": gnmax(), "gate": unknown})
    *told, last = lines_of(raised.value)
    assert all(line.endswith(" [unknown-key]") for line in told)
    assert last.endswith(" 2")


@pytest.mark.quick_cases(8)
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (["verify", "--nonsense"], "option-not-allowed"),
        (["nonsense"], "option-not-allowed"),
        (["account", *ACCOUNT], "option-not-allowed"),
        (["verify", "--seed", "x"], "value-not-allowed"),
        (["verify", "--check", "nonsense"], "value-not-allowed"),
        (["verify", "a.py:f"], "options-do-not-fit"),
        (["verify", "--queries", "1", "--max-queries", "1"], "options-do-not-fit"),
        (
            ["reconstruct", "--counts", "1,2", "--id", "a", *NOISE, "--teachers", "9"],
            "options-do-not-fit",
        ),
        (["verify", "--claim", "claim.toml", "--queries", "50"], "too-few-queries-for-a-pass"),
        (["plan", "--claim", "none.toml"], "file-not-found"),
        (["plan", "--claim", "."], "file-unreadable"),
        (["account", "none.csv", *ACCOUNT], "file-not-found"),
        (["verify", "--log", "none.csv", "--claim", "claim.toml"], "file-not-found"),
        (["verify", "--claim", "claim.toml", "--histogram", "1,2,3,4"], "not-of-the-claim"),
        (["verify", "none.py:f", "--claim", "claim.toml"], "target-not-found"),
        (["verify", "--claim", "claim.toml", "--compare", "claim.toml"], "report-not-comparable"),
        (["verify", "--claim", "claim.toml", "--report", "claim.toml"], "file-not-written"),
        (["audit", "--canaries", "none.csv"], "file-not-found"),
    ],
)
def test_a_command_is_refused_with_a_code(folder: Path, line: list[str], code: str) -> None:
    assert refused(*line) == [code]
    if "--claim" in line and line[0] in ("verify", "plan"):
        assert refused(*line, "--json") == [code]


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        (HEAD, "rows-malformed"),
        (HEAD + "10,20,5,x,1\n", "rows-malformed"),
        (HEAD + "10,20,5,5,9\n", "rows-malformed"),
        ("b,b,c,d,label\n10,20,5,5,1\n", "columns-wrong"),
        ("a,b,c,d\n10,20,5,5\n", "columns-wrong"),
        ("a,b,c,label\n10,20,10,1\n", "not-of-the-claim"),
        ("a,b,c,d,label,time\n10,20,5,5,1,9\n10,20,5,5,1,8\n", "row-out-of-order"),
        (b"\xff\n", "file-unreadable"),
    ],
)
def test_a_log_is_refused_with_a_code(folder: Path, rows: str | bytes, code: str) -> None:
    (folder / "log.csv").write_bytes(rows if isinstance(rows, bytes) else rows.encode())
    claim = ("--claim", "claim.toml")
    assert refused("verify", "--log", "log.csv", *claim) == [code]
    if rows != HEAD:  # what is followed may grow
        followed = typed("monitor", "log.csv", *claim, "--state", "state", "--once")
        assert followed.returncode == 2
        assert followed.stderr.endswith(f" [{code}]\n")


def test_a_state_of_another_claim_has_a_code(folder: Path) -> None:
    (folder / "log.csv").write_text(HEAD + "10,20,5,5,1\n")
    line = ("monitor", "log.csv", "--claim", "claim.toml", "--state", "state", "--once")
    assert typed(*line).returncode == 0
    (folder / "claim.toml").write_text(in_toml(mechanism=gnmax(11, 4, 40)))
    assert refused(*line) == ["state-unusable"]


def test_a_ledger_that_is_none_has_a_code(folder: Path) -> None:
    """Catches a line of Python, and a run that goes on without its ledger."""
    (folder / "ledger.jsonl").write_text("{}\n")
    assert refused("verify", "--claim", "claim.toml", "--ledger", "ledger.jsonl") == [
        "ledger-unusable"
    ]
    assert refused("verify", "--claim", "claim.toml", "--build", "1") == ["options-do-not-fit"]


def test_workers_that_are_lost_have_a_code(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit), working(1, None):
        raise WorkersError("lost")
    code = "workers-failed"
    assert capsys.readouterr().err == f"dpassay: lost [{code}]\n"


def test_an_error_that_is_told_again_keeps_its_code() -> None:
    """With the code of its own class an absent file would be one with a wrong row."""
    for path, code in (("none", "file-not-found"), ("/", "file-unreadable")):
        with pytest.raises(ReadingError) as first:
            read_bytes(path)
        with pytest.raises(RowsError) as again:
            read_csv(path)
        assert first.value.code == again.value.code == code
    assert RowsError("by itself").code == "rows-malformed"
    assert InputError("by itself").code == "value-not-allowed"


@pytest.mark.slow("over half a second")
def test_a_test_of_ones_own_sees_the_codes() -> None:
    """`assert_conforms` raises anew, to show the line of the test alone."""
    with pytest.raises(ClaimError) as raised:
        assert_conforms(print, {"mechanism": gnmax() | {"noize": 1}})
    assert raised.value.codes == ("unknown-key",)
    with pytest.raises(TargetError) as failed:
        assert_conforms("none.py:f", {"mechanism": gnmax()})
    assert failed.value.code == "target-not-found"
