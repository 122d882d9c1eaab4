"""`dpassay replay`: faults are found with their line, correct targets pass, misuse is one line.

The noise is the same for both inputs of a pair, so that a correct target cannot fail. `replay_zoo`
has the targets.
"""

import tomllib

import numpy as np
import pytest
from replay_zoo import CORRECT, COUNTS, FOLDER, LABELS, ORDERS, SUM, WRONG, fault_lines
from typed import assert_misuse, typed

from dpassay.verifiers import Inconclusive, assert_replays
from dpassay.verifiers.findings.verdict import Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.replay.replayed import replay_pairs

_PAIRS = 100
_QUICK = {
    "counts_redrawn_until_positive",
    "counts_smoothed_by_the_largest",
    "counts_noise_for_the_largest",
    "counts_no_noise_for_large_ones",
    "sum_not_clipped",
    "sum_noise_of_the_largest",
    "mean_of_the_middle",
    "gradient_clipped_by_tensor",
}
_SLOW = pytest.mark.slow("more entries of the zoo, a hundred pairs each")


@pytest.fixture(autouse=True)
def _in_tests(monkeypatch) -> None:
    monkeypatch.chdir(FOLDER)


def found(module, name, claim, pairs=_PAIRS):
    return replay_pairs(f"replay_zoo.{module}:{name}", parse_claim(tomllib.loads(claim)), 1, pairs)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    "name", [name if name in _QUICK else pytest.param(name, marks=_SLOW) for name in WRONG]
)
def test_a_fault_is_found_with_its_line(name) -> None:
    """Labels flip by chance: 100 pairs missed 1 in 12 runs of roots, 1,000 miss 1 in 10^10."""
    pairs = 1_000 if name.startswith(("labels", "confident")) else _PAIRS
    seen = found("wrong", name, WRONG[name], pairs)
    assert seen.verdict is Verdict.FAIL, seen.as_text()
    assert seen.code in CODES[seen.fault]
    lines = [line.split(": ")[0] for line in seen.lines]
    assert {*lines} & {*fault_lines(name)}, seen.as_text()


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    "name",
    [n if n == "counts_of_python" else pytest.param(n, marks=_SLOW) for n in CORRECT],
)
def test_a_correct_one_passes(name) -> None:
    """Catches draws that are played back in another order, and a limit that is too narrow."""
    seen = found("correct", name, CORRECT[name], 20 if name == "counts_of_python" else _PAIRS)
    assert seen.verdict is Verdict.PASS, seen.as_text()
    assert seen.draws


CODES = {
    "sensitivity": {"moves-too-far", "nan-by-data"},
    "noise": {"noise-depends-on-data"},
    "shift": {"labels-depend-on-shift", "winner-loses-by-votes", "refused-by-more-votes"},
}
_FEW = {"counts_largest_first": 4, "sum_of_a_mean": 4, "labels_over_the_largest": 2}


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("name", "pairs"),
    [*_FEW.items()] + [pytest.param(n, _PAIRS, marks=_SLOW) for n in ORDERS],
)
def test_data_may_decide_what_is_drawn_when(name, pairs) -> None:
    """Catches an accusation by one pair of runs: these moved by more than a record in most."""
    seen = found("orders", name, ORDERS[name], pairs)
    assert seen.verdict is not Verdict.FAIL, seen.as_text()
    if pairs == _PAIRS:
        assert seen.verdict is Verdict.PASS, seen.as_text()


@pytest.mark.slow("over half a second")
def test_the_scale_of_noise_is_told_though_no_function_was_given_it(monkeypatch) -> None:
    # the simplest pair is sought below
    monkeypatch.setattr("dpassay.verifiers.replay.search._SHRINKS", 3)
    seen = found("wrong", "counts_multiplied_noise", WRONG["counts_multiplied_noise"], 4)
    assert (seen.code, seen.fields["of"]) == ("noise-depends-on-data", "scale")
    assert seen.fields["first"] != pytest.approx(seen.fields["second"])


@pytest.mark.slow("over half a second")
def test_the_pair_is_the_simplest_and_shows_the_exact_distance() -> None:
    seen = found("wrong", "counts_small_ones_are_suppressed", COUNTS).public()
    one, other = map(np.array, seen["pair"])
    assert (seen["moves"], seen["allowed"]) == (5.0, 1.0)
    assert seen["fault"] == "sensitivity"
    assert sorted(other) == [0, 0, 0, 0, 5]
    assert np.abs(other - one).sum() == 1


_TARGETS = """
import os
import numpy as np

def unfrozen(counts, size):
    drawn = int.from_bytes(open("/dev/urandom", "rb").read(2), "little")
    return counts + drawn / 1e4 * np.ones((size, 5))

def chosen(records, size):
    some = np.random.choice(np.arange(len(records) + 5), 1) * 1.0
    return np.tile(some, (size, 1))

def turned(counts, size):
    sign = 1 if counts.sum() % 2 else -1
    return counts + sign * np.random.laplace(size=(size, 5))

def loud(counts, size):
    os.write(2, b"a warning of a library ")
    return counts + np.random.laplace(size=(size, 5))

def bare(counts, size):
    return np.tile(counts, (size, 1))

def clipped(records, size):
    total = np.clip(records, 0, 1).sum(0)
    return total + np.random.laplace(size=(size, 1))

def raises(counts, size):
    raise KeyError("votes")

def ends(counts, size):
    os._exit(3)

def counted_from_one(votes, size):
    return np.argmax(votes + np.random.laplace(size=(size, 4)), axis=1) + 1

def no_label(votes, size):
    return np.full(size, np.nan)
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "target.py").write_text(_TARGETS)
    (tmp_path / "counts.toml").write_text(COUNTS)
    (tmp_path / "sum.toml").write_text(SUM)
    (tmp_path / "labels.toml").write_text(LABELS)
    return tmp_path


@pytest.mark.slow("over half a second")
@pytest.mark.usefixtures("project")
def test_what_cannot_be_frozen_is_said_and_never_guessed() -> None:
    done = typed("replay", "target.py:unfrozen", "--claim", "counts.toml", "--json")
    assert done.returncode == 3
    for target, code in (
        ("unfrozen", "runs-differ"),
        ("turned", "draws-by-data"),
        ("bare", "nothing-drawn"),
    ):
        seen = replay_pairs(f"target.py:{target}", parse_claim(tomllib.loads(COUNTS)), 1, 2)
        assert seen.verdict is Verdict.INCONCLUSIVE
        assert seen.code == code
    done = typed("replay", "target.py:chosen", "--claim", "sum.toml", "--pairs", "8")
    assert done.returncode in (0, 3), done.stdout
    with pytest.raises(Inconclusive, match="different releases"):
        assert_replays("target.py:unfrozen", "counts.toml", pairs=2)


@pytest.mark.usefixtures("project")
def test_what_a_target_prints_is_seen_once(capfd) -> None:
    assert_replays("target.py:loud", "counts.toml", pairs=2)
    assert capfd.readouterr().err.count("a warning of a library") == 1


@pytest.mark.slow("over half a second")
@pytest.mark.usefixtures("project")
def test_a_record_that_is_no_number_is_named_with_its_line() -> None:
    done = typed("replay", "target.py:clipped", "--claim", "sum.toml")
    assert done.returncode == 1
    seen = replay_pairs("target.py:clipped", parse_claim(tomllib.loads(SUM)), 1, 100)
    assert seen.code == "nan-by-data"
    assert ": total moves" in done.stdout


@pytest.mark.quick_cases(1)
@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["target.py:raises", "--claim", "counts.toml"], ["KeyError", "votes"]),
        (["target.py:ends", "--claim", "counts.toml"], ["ended with status"]),
        (["target.py:nothing", "--claim", "counts.toml"], ["no attribute 'nothing'"]),
        (["target.py:counted_from_one", "--claim", "labels.toml"], ["label 4", "0 to 3"]),
        (["target.py:no_label", "--claim", "labels.toml"], ["label nan", "0 to 3"]),
        (["exec:cat", "--claim", "counts.toml"], ["exec:cat", "Python targets alone"]),
        (["target.py:raises", "--claim", "no.toml"], ["no.toml"]),
        (["target.py:raises", "--claim", "counts.toml", "--pairs", "0"], ["'0'", "from 1"]),
    ],
)
def test_misuse_is_one_line(arguments, words) -> None:
    assert_misuse(typed("replay", *arguments), *words)


@pytest.mark.slow("over half a second")
@pytest.mark.usefixtures("project")
def test_a_failure_in_a_test_of_ones_own_names_the_pair(dpassay_replay) -> None:
    with pytest.raises(AssertionError, match="moves by"):
        dpassay_replay(f"{FOLDER}/replay_zoo/wrong.py:sum_not_clipped", "sum.toml")


@pytest.mark.slow("imports jax, which takes seconds for each run")
def test_noise_of_jax_is_frozen(project) -> None:
    (project / "of_jax.py").write_text(
        "import secrets\nimport jax\nimport numpy as np\n\n"
        "def right(counts, size):\n"
        "    key = jax.random.key(secrets.randbits(31))\n"
        "    return counts + np.asarray(jax.random.laplace(key, (size, 5)))\n\n"
        "def wrong(counts, size):\n"
        "    key = jax.random.key(secrets.randbits(31))\n"
        "    return 2 * counts + np.asarray(jax.random.laplace(key, (size, 5)))\n"
    )
    right = typed("replay", "of_jax.py:right", "--claim", "counts.toml", "--pairs", "5")
    assert right.returncode == 0, right.stdout
    assert "of_jax.py:7: jax.random.laplace" in right.stdout
    wrong = typed("replay", "of_jax.py:wrong", "--claim", "counts.toml", "--pairs", "5")
    assert wrong.returncode == 1, wrong.stdout
