"""`dpassay play --example`: the files of the guide to gradients, which its commands then read."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typed import assert_misuse, typed

from dpassay.verifiers.gradients.example import CLAIM, MODEL

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "gradients.md"
FILES = ["deployment.py", "gradients.toml", "model.py", "people.csv"]
WHO = ("--data", "people.csv", "--label", "income", "--attribute", "sex", "--trials", "300")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_four_files_are_written_into_a_new_folder() -> None:
    done = typed("play", "--example", "a/new")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in Path("a/new").iterdir()) == FILES
    assert all(f"a/new/{name}" in done.stdout for name in FILES)


def test_nothing_is_overwritten() -> None:
    """Though the file that is there is the last to be written: the others are not either."""
    Path("gradients.toml").write_text("mine")
    done = typed("play", "--example", ".")
    assert_misuse(done, "--example .: gradients.toml is there already; name another folder")
    assert [path.name for path in Path().iterdir()] == ["gradients.toml"]
    assert Path("gradients.toml").read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_one_line() -> None:
    Path("file").write_text("")
    assert_misuse(typed("play", "--example", "file"), "--example file: ")
    assert_misuse(typed("play", "--example", "file/in"), "--example file/in: Not a directory")


def test_the_guide_shows_the_same_model_and_claim() -> None:
    """What is read there is what is written here."""
    for language, text in (("python", MODEL), ("toml", CLAIM)):
        shown = re.findall(rf"^```{language}\n(.*?)^```", GUIDE.read_text(), re.S | re.M)
        assert text in shown, language


def test_the_weights_are_those_of_training() -> None:
    """Five epochs of logistic regression on the people, batches of 16, rate .05, to two digits."""
    typed("play", "--example", ".")
    rows = np.loadtxt("people.csv", delimiter=",", skiprows=1)
    inputs, labels = np.column_stack([rows[:, :3], np.ones(len(rows))]), rows[:, 3]
    names: dict[str, Any] = {}
    exec(Path("model.py").read_text(), names)
    weights, random = names["weights"][0], np.random.default_rng(0)
    for kept in names["weights"]:
        assert np.abs(weights - kept).max() <= 0.005 + 1e-9
        order = random.permutation(len(rows))
        for start in range(0, len(rows), 16):
            some = order[start : start + 16]
            error = 1 / (1 + np.exp(-inputs[some] @ weights)) - labels[some]
            weights = weights - 0.05 * error @ inputs[some] / len(some)


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("unseen", [(), ("--unseen",)], ids=["seen", "unseen"])
def test_sex_is_inferred_and_noise_hides_it(unseen, monkeypatch) -> None:
    """Whether the model sees it or not; sigma 30 leaves nothing that 300 trials show.

    Who guesses has an AUROC above 0.65 once in a million.
    """
    for name in ("_SHADOW", "_CHOOSING"):
        monkeypatch.setattr(f"dpassay.attacks.gradients.vendor_game.{name}", 200)
    typed("play", "--example", ".")
    both = ("--defence", "none", "--defence", "dp-sgd", "--sigma", "30")
    done = typed("play", "model.py:gradients", *WHO, *unseen, *both, "--json")
    assert done.returncode == 0, done.stderr
    plain, hidden = (line["auroc"]["value"] for line in json.loads(done.stdout)["played"])
    assert plain > 0.9
    assert hidden < 0.65
