"""`dpassay play`: the game on a vendor's model, and every misuse in one line."""

import json

import numpy as np
import pytest
from typed import assert_misuse, typed

MODEL = """
import numpy as np
def gradients(records, labels):
    return np.tile(records, 2) * (1.0 + labels[:, None])
def broken(records, labels):
    raise RuntimeError("no weights")
def flat(records, labels):
    return records[:, 0]
def by_round(records, labels, round):
    return np.tile(records, 2) * (1.0 if round else 0.0)
weights = [1.0]
"""
WHO = ("--data", "people.csv", "--label", "income", "--attribute", "sex")


@pytest.fixture(autouse=True)
def vendor(tmp_path, monkeypatch) -> None:
    for name in ("_SHADOW", "_CHOOSING"):  # few, so that forests are grown in no time
        monkeypatch.setattr(f"dpassay.attacks.gradients.vendor_game.{name}", 100)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    rng = np.random.default_rng(0)
    lines = ["sex,a,b,income"]
    for number in range(200):
        sex = int(number % 5 < 2)
        numbers = rng.normal((2 * sex - 1, 0)).round(4)
        lines.append(f"{sex},{numbers[0]},{numbers[1]},{number // 5 % 2}")
    (tmp_path / "people.csv").write_text("\n".join(lines))


@pytest.mark.slow("over half a second")
def test_defences_are_played_and_dp_sgd_is_told_with_its_exact_cost() -> None:
    """At sigma 1 and delta 1e-5: 10.0 for an attribute flipped, 4.38 for a record added."""
    asked = ("--defence", "none", "--defence", "dp-sgd", "--batch", "8", "--trials", "100")
    done = typed("play", "model.py:gradients", *WHO, *asked, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    plain, private = found["played"]
    assert (plain["defence"], private["defence"]) == ("none", "dp-sgd")
    assert plain["guessing"] == 0.6
    assert plain["advantage"]["value"] > 0.8
    assert plain["epsilon_substitution"] is None
    assert private["epsilon_substitution"] == pytest.approx(10.0, abs=0.01)
    assert private["epsilon_add_remove"] == pytest.approx(4.38, abs=0.01)


@pytest.mark.slow("over half a second")
def test_people_see_a_table() -> None:
    done = typed("play", "model.py:gradients", *WHO, "--unseen", "--trials", "100")
    first, head, line = done.stdout.splitlines()
    assert first.startswith("sex from one ")
    assert "16 records" in first
    assert "gradients of model" in first
    assert "100 trials, 60.0% " in first
    assert head.split()[:3] == ["defence", "advantage", "AUROC"]
    assert line.startswith("none")


@pytest.mark.slow("over half a second")
def test_rounds_of_training_are_told_by_round_and_together() -> None:
    """The first round shows nothing, the second nearly all: neither hides the other."""
    done = typed("play", "model.py:by_round", *WHO, "--rounds", "2", "--trials", "100", "--json")
    assert done.returncode == 0, done.stderr
    (line,) = json.loads(done.stdout)["played"]
    first, second = line["by_round"]
    assert first["auroc"]["value"] == 0.5
    assert second["auroc"]["value"] > 0.9
    assert line["auroc"] == second["auroc"]
    text = typed("play", "model.py:by_round", *WHO, "--rounds", "2", "--trials", "100").stdout
    assert text.startswith("sex from ")
    assert "2 rounds" in text
    assert "batches of 16" in text
    names = [row[:14].strip() for row in text.splitlines()[2:]]
    assert names == ["none", "round 1", "round 2", "all rounds"]


@pytest.mark.slow("over half a second")
def test_releases_of_all_rounds_are_charged() -> None:
    """Two releases in each of two rounds at sigma 2 cost what one does at sigma 1."""
    often = ("--rounds", "2", "--releases", "2", "--defence", "dp-sgd", "--sigma", "2")
    done = typed("play", "model.py:by_round", *WHO, *often, "--trials", "100", "--json")
    assert done.returncode == 0, done.stderr
    (line,) = json.loads(done.stdout)["played"]
    assert line["epsilon_substitution"] == pytest.approx(10.0, abs=0.01)
    assert line["epsilon_add_remove"] == pytest.approx(4.38, abs=0.01)


SEVERAL = ("--releases", "3", "--defence", "dp-sgd")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("model.py:broken", *WHO), "records of shape (1, 3) it raised RuntimeError: no weights"),
        (("model.py:flat", *WHO), "gradients of shape (1,) for 1 records: expected (1, p)"),
        (("model.py:weights", *WHO), "expected a callable (records, labels) -> gradients (n, p)"),
        (("absent.py:gradients", *WHO), "absent.py:gradients: no file absent.py"),
        (("model.py:gradients", *WHO[:-1], "age"), "no column 'age': there are sex, a, b, income"),
        (("model.py:gradients", *WHO, "--defence", "vib"), "Invalid value for '--defence'"),
        (("model.py:gradients", *WHO, "--trials", "5"), "whole number from 100 to 100,000"),
        (("model.py:gradients", *WHO[:4]), "Missing option '--attribute'"),
        (("model.py:gradients", *WHO, *SEVERAL, "--defence", "none"), "expected 1 with none: with"),
        (("model.py:gradients", *WHO, *SEVERAL, "--sigma", "0"), "expected 1 with dp-sgd: without"),
        (("model.py:gradients", *WHO, "--rounds", "2"), "expected a callable (records, labels, ro"),
    ],
)
def test_misuse_is_one_line(arguments, message) -> None:
    assert_misuse(typed("play", *arguments), message)
