"""`dpassay audit --canaries`: verdicts, and one line for each wrong file."""

import json

import numpy as np
import pytest
from typed import typed


@pytest.fixture
def written(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    coins = rng.random(1_000) < 0.5
    for name, strength in (("leaky", 4.0), ("blind", 0.0)):
        scores = strength * coins + rng.normal(size=1_000)
        rows = [f"{score},{int(coin)}" for score, coin in zip(scores, coins, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["score,in", *rows]) + "\n")


@pytest.mark.usefixtures("written")
def test_a_claim_is_refuted_kept_or_not_told_apart() -> None:
    """Blind scores give a positive bound in 1 of 20 samples; this one was drawn once."""
    leaky = typed("audit", "--canaries", "leaky.csv", "--epsilon", "1")
    assert leaky.returncode == 1
    assert leaky.stdout.startswith("FAIL: ")
    assert "epsilon 1" in leaky.stdout.splitlines()[0]
    kept = typed("audit", "--canaries", "leaky.csv", "--epsilon", "9", "--json")
    assert kept.returncode == 0
    found = json.loads(kept.stdout)
    assert 2.0 < found["epsilon_lower"] < 9.0
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
    assert "of 150 guesses 150 right" in done.stdout
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
