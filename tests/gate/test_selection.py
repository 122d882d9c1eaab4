"""`--check`, `--skip` and own histograms: what is left out is not asked for, and is told."""

import json

import numpy as np
import pytest
from claims import COARSE, SMALL, in_toml
from runs import result
from small import drawing, small_claim
from typed import typed

from dpassay.verifiers.commands.verify_target import own_histograms
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.checks import ClassProbabilities
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import Selection, select
from dpassay.verifiers.targets import InProcessTarget

PRIVACY = {"epsilon": 5.0, "delta": 1e-5, "queries": 10}
OWN = (20, 10, 6, 4)
ANOTHER = pytest.mark.slow("whole runs; others are")
CLAIM = in_toml(mechanism=SMALL, gate=COARSE | {"false_alarm": 1e-3})


def run(claim, selection, **how):
    return verify(drawing(claim, **how), claim, seed=0, selection=selection)


def verdicts(report):
    return {check.id: check.verdict for check in report.checks}


@pytest.fixture(scope="module")
def whole():
    """Queries of a run with all checks."""
    return run(small_claim(), None).queries


@pytest.mark.parametrize(
    ("check", "claim", "share"),
    [
        ("class-probabilities", small_claim(), 1.0),
        ("noise-scale", small_claim(), 0.5),
        ("shift-invariance", small_claim(), 0.5),
        ("permutation-equivariance", small_claim(), 0.5),
        ("vote-monotonicity", small_claim(), 0.5),
        pytest.param("fresh-noise", small_claim(), 1.0, marks=ANOTHER),
        ("abstention", small_claim("confident-gnmax"), None),
        pytest.param("privacy-claim", small_claim(privacy=PRIVACY), 0.02, marks=ANOTHER),
        ("privacy-audit", small_claim(privacy=PRIVACY), 0.5),
        ("histogram-leakage", small_claim(), 0.5),
        ("vote-monotonicity", small_claim("confident-gnmax"), None),
    ],
)
@pytest.mark.slow("over half a second")
def test_a_check_alone_comes_to_its_verdict(check, claim, share, whole) -> None:
    """What it needs is asked for, and little else: catches streams forgotten or asked in vain."""
    report = run(claim, select([check], of=SHARES))
    found = verdicts(report)
    assert {found.pop(check), found.pop("input-contract")} == {Verdict.PASS}
    assert set(found.values()) == {Verdict.NOT_APPLICABLE}
    assert {c.code for c in report.checks if c.id in found} == {"left-out-by-choice"}
    assert report.verdict is Verdict.PASS
    assert share is None or report.queries <= share * whole


@pytest.mark.slow("over half a second")
def test_kept_answers_are_asked_again_alone() -> None:
    """Of a caching deployment: a few hundred histograms, and those of them again."""
    claim = small_claim()
    claim = claim.model_copy(
        update={"mechanism": claim.mechanism.model_copy(update={"caching": True})}
    )
    kept, inner = {}, drawing(claim)

    def cached(histogram, size):
        label = kept.setdefault(tuple(histogram), inner.ask(histogram, 1)[0])
        return np.full(size, label)

    found = verify(
        InProcessTarget(cached), claim, seed=0, selection=select(["fresh-noise"], of=SHARES)
    )
    assert verdicts(found)["fresh-noise"] is Verdict.PASS
    assert found.queries < 2000
    report = verify(drawing(claim), claim, seed=0, selection=select(["fresh-noise"], of=SHARES))
    assert verdicts(report)["fresh-noise"] is Verdict.FAIL


@pytest.mark.slow("a whole run of labels; of numbers it is quick")
def test_a_fault_of_what_is_left_out_is_not_reported() -> None:
    """Half the noise shows in labels, scale and order; the symmetries hold all the same."""
    skipped = select(skip=["class-probabilities", "noise-scale", "order"], of=SHARES)
    report = run(small_claim(), skipped, scale=0.5)
    assert report.verdict is Verdict.PASS
    assert report.notes[0].code == "left-out-by-choice"
    assert "--skip: class-probabilities, noise-scale, " in report.notes[0].message
    assert ", order;" in report.notes[0].message
    assert run(small_claim(), select(["noise-scale"], of=SHARES), scale=0.5).verdict is Verdict.FAIL


def test_what_a_check_finds_needs_no_other() -> None:
    """Reused noise without the checks of the labels' law."""
    claim = small_claim()
    mechanism = claim.mechanism.mechanism()

    def repeating(histogram, size):
        return mechanism.sample(histogram, size, np.random.default_rng(3))

    report = verify(
        InProcessTarget(repeating), claim, seed=0, selection=select(["fresh-noise"], of=SHARES)
    )
    assert verdicts(report)["fresh-noise"] is Verdict.FAIL
    assert all(check.figures is None or not check.figures.histograms for check in report.checks)


@pytest.mark.slow("over half a second")
def test_nothing_is_restarted_for_a_check_that_is_left_out() -> None:
    """Nor is it a warning that it was not."""

    class Restartable(InProcessTarget):
        no_restart = None

        def restart(self):
            pytest.fail("restarted")

    claim = small_claim()
    target = Restartable(drawing(claim).ask)
    report = verify(target, claim, seed=0, selection=select(skip=["fresh-noise"], of=SHARES))
    assert report.verdict is Verdict.PASS
    assert all(warning.code != "not-restarted" for warning in report.notes)


def test_thresholds_do_not_depend_on_what_is_left_out() -> None:
    """The share of the error budget stays: catches shares given to the rest."""
    report = run(small_claim(), select(["noise-scale"], of=SHARES))
    found = result(report, "noise-scale")
    wanted = -np.log(SHARES["noise-scale"] * 1e-3)
    assert found.threshold_log10 == pytest.approx(wanted / np.log(10.0), abs=1e-3)


def test_a_choice_that_applies_to_nothing_is_told() -> None:
    report = run(small_claim(), select(["abstention", "accountant-soundness"], of=SHARES))
    assert report.queries < 100
    assert report.verdict is Verdict.INCONCLUSIVE  # the form of the replies alone is no pass
    assert report.meaning.startswith("none of ")
    (told,) = (warning for warning in report.notes if warning.code == "no-check-applies")
    assert told.message.endswith(": abstention, accountant-soundness")
    some = select(["abstention", "privacy-claim", "noise-scale"], of=SHARES)
    codes = [warning.code for warning in run(small_claim(), some).notes]
    assert "no-check-applies" not in codes


@pytest.mark.parametrize(
    ("check", "skip", "words"),
    [
        (["nope"], [], f"--check 'nope': expected one of {', '.join(SHARES)}"),
        ([], ["noise-scale", ""], f"--skip '': expected one of {', '.join(SHARES)}"),
        ([], ["input-contract"], "--skip input-contract: it cannot be left out"),
        (["noise-scale"], ["fresh-noise"], "--check and --skip: give one or the other"),
    ],
)
def test_bad_choices_are_one_line(check, skip, words) -> None:
    with pytest.raises(ValueError, match=r"^--") as error:
        select(check, skip, of=SHARES)
    assert str(error.value).startswith(words)
    assert "\n" not in str(error.value)


def test_choosing_all_is_choosing_nothing() -> None:
    assert select(list(SHARES), of=SHARES).left_out == {} == select(of=SHARES).left_out
    assert Selection().warning is None


@pytest.mark.slow("whole runs in processes; others are")
def test_own_histograms_are_typed_or_read(tmp_path) -> None:
    """Each once, and a column of labels is no class; one that a run asks anyway is no more."""
    path = tmp_path / "own.csv"
    path.write_text("a,b,c,d,label\n20,10,6,4,1\n40,0,0,0,0\n")
    claim = small_claim()
    found = own_histograms(["20,10,6,4", "10,10,10,10"], str(path), claim)
    assert found == [OWN, (10, 10, 10, 10), (40, 0, 0, 0)]
    report = verify(drawing(small_claim()), small_claim(), seed=0, own=found)
    without = verify(drawing(small_claim()), small_claim(), seed=0)
    looked = [
        int(check.message.split("; ")[-1].split()[0])
        for made in (report, without)
        for check in made.checks
        if check.id == "class-probabilities"
    ]
    asked = {stream.histogram for stream in make_plan(small_claim(), 0).streams}
    assert set(found) - asked == {OWN}  # all alike, and all for one, are asked in every run
    assert looked[0] == looked[1] + 1


@pytest.mark.parametrize(
    ("typed_ones", "text", "words"),
    [
        (["20,10,10"], None, "--histogram 20,10,10: 3 classes and 40 votes, but the claim has 4"),
        (["20,10,6,5"], None, "--histogram 20,10,6,5: 4 classes and 41 votes, but the claim has 4"),
        (["20,10,x,5"], None, "--histogram: histogram '20,10,x,5': 'x' is not a whole number"),
        (["20,-1,20,1"], None, "--histogram: "),
        ([], "20,10,6,4\n20,10,6,5\n", "own.csv, histogram 2: 4 classes and 41 votes"),
        ([], "20,10,6,x\n", "own.csv, line 1: 'x' is not a whole number of votes"),
        ([], None, "nowhere.csv: No such file"),
    ],
)
def test_bad_histograms_are_one_line(typed_ones, text, words, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / "own.csv").write_text(text)
    file = None if typed_ones else "own.csv" if text is not None else "nowhere.csv"
    with pytest.raises(ValueError, match=r"^[-no]") as error:
        own_histograms(typed_ones, file, small_claim())
    assert str(error.value).startswith(words)
    assert "\n" not in str(error.value)


def test_there_is_a_limit_to_own_histograms(tmp_path) -> None:
    plain = small_claim()
    many = plain.mechanism.model_copy(update={"classes": 2, "teachers": 2000})
    claim = plain.model_copy(update={"mechanism": many})
    rows = tmp_path / "own.csv"
    rows.write_text("".join(f"{k},{2000 - k}\n" for k in range(1001)))
    with pytest.raises(ValueError, match=r"own.csv: 1,001 histograms: .* 1,000$"):
        own_histograms([], str(rows), claim)
    rows.write_text("".join(f"{k},{2000 - k}\n" for k in range(1000)))
    assert len(own_histograms([], str(rows), claim)) == 1000


def test_own_histograms_count_in_what_is_still_to_ask() -> None:
    """They come before the last anchors, so a budget that ends before them must hold them too."""
    more = [make_plan(small_claim(), 0, own=own) for own in ((), (OWN, (40, 0, 0, 0)))]
    short = [ClassProbabilities(plan).samples_needed() for plan in more]
    assert short[1] == short[0] + 200


@pytest.mark.slow("over half a second")
def test_the_command_takes_them_all(tmp_path) -> None:
    """And says them again in `reproduce`, so that the run can be repeated."""
    (tmp_path / "claim.toml").write_text(CLAIM)
    (tmp_path / "own.csv").write_text("40,0,0,0\n")
    target = tmp_path / "half.py"
    target.write_text(
        "import numpy as np\nrng = np.random.default_rng()\n"
        "def half(votes, size):\n    return (votes + rng.normal(0, 5, (size, 4))).argmax(1)\n"
    )
    options = ["--check", "class-probabilities", "--check", "noise-scale"]
    options += ["--histogram", "20,10,6,4", "--histograms", str(tmp_path / "own.csv")]
    found = typed(
        *("verify", f"{target}:half", "--claim", str(tmp_path / "claim.toml")), *options, "--json"
    )
    assert found.returncode == 1
    report = json.loads(found.stdout)
    assert report["notes"][0]["code"] == "left-out-by-choice"
    assert "--check: " in report["warnings"][0]
    assert "but class-probabilities, " in report["warnings"][0]
    again = next(check["reproduce"] for check in report["checks"] if check["verdict"] == "fail")
    assert " ".join(options) in again
    wrong = typed("verify", "--skip", "input-contract")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
