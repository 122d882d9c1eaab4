"""`dpassay audit --canaries`: verdicts, and one line for each wrong file."""

import json
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from typed import typed

from dpassay.verifiers.commands.training_claims import epsilon_claim, share_error

NOISY = ("--sampling-rate", "0.5", "--steps", "64", "--noise-multiplier")


@pytest.fixture
def written(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    coins = rng.random(1_000) < 0.5
    for name, strength in (("leaky", 4.0), ("blind", 0.0)):
        scores = strength * coins + rng.normal(size=1_000)
        rows = [f"{score},{int(coin)}" for score, coin in zip(scores, coins, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["score,in", *rows]) + "\n")


@pytest.mark.slow("over half a second")
@pytest.mark.usefixtures("written")
def test_a_claim_is_refuted_kept_or_not_told_apart() -> None:
    """Blind scores give a positive bound in 1 of 20 samples; this one was drawn once."""
    leaky = typed("audit", "--canaries", "leaky.csv", "--epsilon", "1")
    assert leaky.returncode == 1
    assert leaky.stdout.startswith("FAIL: ")
    assert "epsilon 1" in leaky.stdout.splitlines()[0]
    kept = typed("audit", "--canaries", "leaky.csv", "--epsilon", "5", "--json")
    assert kept.returncode == 0
    found = json.loads(kept.stdout)
    assert 2.0 < found["epsilon_lower"] < 5.0
    assert found["right"] <= found["guesses"] <= found["canaries"] == 1_000
    assert 1.0 < found["mu_lower"] < 4.0 < found["epsilon_if_gaussian"]
    assert f"at least {found['mu_lower']:.4g}, of {found['mu_guesses']} guesses" in leaky.stdout
    assert typed("audit", "--canaries", "blind.csv", "--epsilon", "1").returncode in (0, 3)


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("score\n1\n", "columns score and in"),
        ("score,in\n1,2\n", "line 2: in '2': expected 1 or 0"),
        ("score,in\n1,1\nx,0\n", "line 3: score 'x': expected a number"),
        ("score,in\n1,1\n", "1 canaries: expected two or more"),
        ("score,in\n1\n", "line 2: 1 columns, but 2 in the header"),
        ("", "columns score and in"),
    ],
)
def test_a_wrong_file_is_told_in_one_line(tmp_path, text, said) -> None:
    (tmp_path / "wrong.csv").write_text(text)
    done = typed("audit", "--canaries", "wrong.csv")
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--canaries", "leaky.csv", "--experiments", "5"], "--experiments does not belong"),
        (["x.py:f", "--canaries", "leaky.csv"], "TARGET does not belong to --canaries"),
        (["--train", "x.py:f", "--group", "3"], "--group does not belong to --train"),
        (["--epsilon", "1"], "--epsilon belongs to --canaries"),
        (["--steps", "3"], "--steps belongs to --canaries"),
        (["--canaries", "leaky.csv", "--steps", "3"], "--noise-multiplier, --sampling-rate and"),
        (["--canaries", "leaky.csv", "--curve", "absent.csv"], "absent.csv"),
        (["--canaries", "leaky.csv", "--curve", "x.csv", "--steps", "3"], "give either"),
        (["--canaries", "leaky.csv", *NOISY, "0.1"], "0.1 is not in the range 0.3"),
        (["--canaries", "leaky.csv", *NOISY, "1", "--steps", "10000"], "claims next to nothing"),
    ],
)
def test_options_of_other_audits_are_refused(options, said) -> None:
    done = typed("audit", *options)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_training_is_run_once_with_the_coins_that_are_drawn(tmp_path, monkeypatch) -> None:
    """Sums that hold every member bare refute an epsilon of 1; the calls are counted."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "training.py").write_text(
        "def bare(included):\n"
        "    with open('calls', 'a') as file:\n"
        "        file.write('x')\n"
        "    return included * 1.0\n"
        "def short(included):\n    return [1.0]\n"
        "def raising(included):\n    raise RuntimeError('no data')\n"
    )
    done = typed("audit", "--train", "training.py:bare", "--count", "300", "--epsilon", "1")
    assert done.returncode == 1, done.stderr
    assert "of 300 guesses 300 right" in done.stdout
    assert "300 canaries" in done.stdout
    assert (tmp_path / "calls").read_text() == "x"
    for name, said in (
        ("short", "expected 1000 scores"),
        ("raising", "raised RuntimeError: no data"),
        ("absent", "absent"),
    ):
        wrong = typed("audit", "--train", f"training.py:{name}")
        assert wrong.returncode == 2
        assert said in wrong.stderr
        assert wrong.stderr.count("\n") == 1


def test_claims_share_the_error() -> None:
    claims = [epsilon_claim(epsilon, 0.0) for epsilon in (1.0, 2.0, 4.0)]
    assert [one.error for one in share_error(claims, 1000, 0.03)] == pytest.approx([0.01] * 3)


def audited(*options: str) -> tuple[int, dict[str, Any]]:
    """Status and document of an audit."""
    done = typed("audit", *options, "--json")
    return done.returncode, json.loads(done.stdout)


@pytest.fixture
def bare(tmp_path, monkeypatch) -> str:
    """A training that leaves out its noise: every canary is told."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bare.py").write_text("def train(included):\n    return included * 1.0\n")
    return "bare.py:train"


@pytest.mark.slow("over half a second")
def test_a_training_without_noise_does_not_pass_where_it_could_not_fail(bare) -> None:
    """1,500 canaries, all guessed right, refute no epsilon of 8 at delta 1e-5; 12,977 could."""
    status, found = audited("--train", bare, "--count", "1500", "--epsilon", "8", "--delta", "1e-5")
    assert (status, found["verdict"]) == (3, "inconclusive")
    assert found["right"] == found["guesses"] == 1500
    assert [note["code"] for note in found["notes"]] == ["too-few-queries"]
    assert found["notes"][0]["fields"] == {"canaries": 12_977}
    (reach,) = found["reach"]
    assert (reach["could_refute"], reach["fewest_canaries"]) == (False, 12_977)
    assert reach["lowest_error"] > 0.5


def test_an_error_below_the_least_is_told_with_what_several_trainings_could(bare) -> None:
    options = ("--epsilon", "4", "--delta", "1e-5", "--false-alarm", "1e-6")
    status, found = audited("--train", bare, *options)
    assert status == 3
    assert [note["code"] for note in found["notes"]] == ["cannot-be-seen-here"]
    (reach,) = found["reach"]
    assert reach["fewest_canaries"] is None
    assert reach["lowest_error_canaries"] == 672
    assert (reach["trainings"], reach["trainings_canaries"]) == (2, 453)
    assert reach["trainings_false_alarm"] == pytest.approx(1e-3)


def test_canaries_that_are_too_many_for_the_error_are_told(bare) -> None:
    """At .00077 672 could and 2,000 cannot, as what delta allows grows with their number."""
    options = ("--count", "2000", "--epsilon", "4", "--delta", "1e-5", "--false-alarm", ".00077")
    status, found = audited("--train", bare, *options)
    assert status == 3
    assert [note["code"] for note in found["notes"]] == ["cannot-be-seen-here"]
    assert 500 < found["reach"][0]["fewest_canaries"] < 672


def test_as_few_canaries_as_could_refute_do(bare) -> None:
    """Catches an error that is divided among shares which could refute nothing: 258 in place."""
    options = ("--epsilon", "4", "--delta", "1e-5")
    assert audited("--train", bare, "--count", "165", *options)[0] == 3
    assert audited("--train", bare, "--count", "166", *options)[0] == 1


def test_what_could_be_refuted_is_said_before_the_training(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.py").write_text("def train(included):\n    raise RuntimeError('stop')\n")
    done = typed("audit", "--train", "bad.py:train", "--epsilon", "8", "--delta", "1e-5")
    assert done.returncode == 2
    assert "12,977" in done.stderr.partition("raised RuntimeError")[0]


@pytest.mark.slow("over half a second")
def test_a_claimed_curve_is_refuted_where_its_epsilon_cannot_be(bare) -> None:
    """Without noise, 1,500 canaries refute the curve of a training whose epsilon is near 8."""
    curve = (*NOISY, "2.5")
    status, found = audited("--train", bare, "--count", "1500", *curve)
    assert (status, found["verdict"], found["curve_refuted"]) == (1, "fail", True)
    both = audited("--train", bare, "--count", "1500", *curve, "--epsilon", "8", "--delta", "1e-5")
    assert both[0] == 1
    assert both[1]["confidence"] == pytest.approx(0.975)
    assert [one["could_refute"] for one in both[1]["reach"]] == [False, True]


@pytest.mark.slow("over half a second")
@pytest.mark.usefixtures("written")
def test_a_curve_of_a_file_is_refuted_or_not(tmp_path) -> None:
    """Scores of mu 4 are held to the Gaussian curves of mu 1 and of 2."""
    alphas = ndtr(np.linspace(-8, 8, 200))
    for mu in (1, 2):
        betas = ndtr(-ndtri(alphas) - mu)
        rows = [f"{a:.17g},{b:.17g}" for a, b in zip(alphas, betas, strict=True)]
        (tmp_path / f"mu{mu}.csv").write_text("\n".join(["alpha,beta", *rows]))
    options = ("--canaries", "leaky.csv", "--curve")
    assert audited(*options, "mu1.csv")[0] == 1
    status, found = audited(*options, "mu2.csv")
    assert (status, found["curve_refuted"], found["claimed"]) == (0, False, None)


@pytest.mark.parametrize("order", ["all out first", "hits"])
def test_ties_prove_nothing(tmp_path, monkeypatch, order) -> None:
    """Equal scores, and 0/1 hits that say nothing of the coins, with all rows of in = 0 first."""
    monkeypatch.chdir(tmp_path)
    hits = np.arange(1000) % 2 if order == "hits" else np.zeros(1000, dtype=int)
    rows = [f"{hit},{int(place >= 500)}" for place, hit in enumerate(hits)]
    (tmp_path / "ties.csv").write_text("\n".join(["score,in", *rows]))
    status, found = audited("--canaries", "ties.csv")
    assert (status, found["epsilon_lower"], found["mu_lower"]) == (3, 0.0, 0.0)


@pytest.mark.parametrize(("included", "told"), [(1000, 1), (0, 1), (900, 1), (500, 0), (540, 0)])
def test_coins_that_a_fair_one_hardly_draws_are_told(tmp_path, monkeypatch, included, told) -> None:
    monkeypatch.chdir(tmp_path)
    scores = np.random.default_rng(1).normal(size=1000)
    rows = [f"{score},{int(place < included)}" for place, score in enumerate(scores)]
    (tmp_path / "coins.csv").write_text("\n".join(["score,in", *rows]))
    done = typed("audit", "--canaries", "coins.csv")
    assert done.stdout.count("was the coin fair?") == told
    codes = [note["code"] for note in audited("--canaries", "coins.csv")[1]["notes"]]
    assert codes == ["coins-look-unfair"] * told
