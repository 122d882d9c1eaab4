"""`dpassay exposure`: what it tells of a scorer's canaries, and every misuse in one line."""

import json
import math

import pytest
from typed import assert_misuse, typed

SCORER = """
def known(strings):
    return [sum(0.1 if c == w else 3.0 for c, w in zip(s[5:], "48215")) for s in strings]
def broken(strings):
    raise RuntimeError("no weights")
def mean(strings):
    return [9.0 - len(s) for s in strings]
def turned(strings):
    return [-score for score in known(strings)]
def short(strings):
    return [1.0]
weights = [1.0]
"""
PIN = ("--template", "pin: [0-9]{3}", "--canary", "pin: 482")
FIVE = ("--template", "pin: [0-9]{5}", "--canary", "pin: 48215")


@pytest.fixture(autouse=True)
def vendor(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(SCORER)


def test_a_canary_that_is_known_is_first_and_extracted() -> None:
    others = ("--canary", "pin: 482", "--canary", "pin: 000")
    done = typed("exposure", "model.py:known", *PIN[:2], *others, "--extract", "--json")
    assert done.returncode == 0, done.stderr
    known, far = json.loads(done.stdout)["lines"]
    assert known["how"] == far["how"] == "exact"
    assert known["value"] == known["bits"] == pytest.approx(math.log2(1000))
    assert known["guess"] == 1
    assert far["value"] == 0.0  # 729 strings have no digit right, the last of which has rank 1,000


@pytest.mark.slow("over half a second")
def test_a_larger_space_is_sampled_and_says_so() -> None:
    done = typed("exposure", "model.py:known", *FIVE, "--strings", "2000", "--extract")
    assert done.returncode == 0, done.stderr
    title, head, line, *notes = done.stdout.splitlines()
    assert title == "Canaries in model.py:known"
    assert head.split() == ["canary", "exposure,", "bits", "of", "how", "extracted", "after"]
    assert line.split()[-5:] == ["extrapolated", "1", "string:", "16.6", "bits"]
    assert "95 %" in notes[0]
    assert "2,000 strings" in notes[0]
    assert "skew-normal" in notes[1]
    assert "sample refutes" in notes[2]
    assert "at least 9." in notes[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("model.py:known",), "give SCORER, --template TEXT and --canary TEXT, or --demo alone"),
        (("--demo", *PIN), "--demo has a model and canaries of its own"),
        (("model.py:broken", *PIN), "model.py:broken: for 'pin: 482' it raised RuntimeError: no w"),
        (("model.py:short", *PIN), "shape (1,) for 1000 strings: expected (1000,) log-perplex"),
        (("model.py:turned", *PIN), "every score is negative, -0.3 at most, as log-prob"),
        (("model.py:turned", *PIN, "--extract"), "every score is negative"),
        (("model.py:mean", *PIN, "--extract"), "expected no lower one; log-perplexities add up"),
        (("model.py:weights", *PIN), "expected a callable, strings -> log-perplexities"),
        (("absent.py:known", *PIN), "absent.py:known: no file absent.py"),
        (("model.py:known", "--template", "pin", "--canary", "pin"), "no free symbol"),
        (("model.py:known", *PIN[:3], "pin: x"), "character 6: expected one of '0123456789'"),
        (("model.py:known", *PIN, "--strings", "5"), "expected a whole number from 1,000"),
    ],
)
def test_misuse_is_one_line(arguments, message) -> None:
    assert_misuse(typed("exposure", *arguments), message)


@pytest.mark.slow("a model is trained, ten seconds")
def test_the_demo_extracts_what_stands_ten_times() -> None:
    done = typed("exposure", "--demo", "--extract", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["lines"]
    assert [line["inserted"] for line in found] == [1, 2, 4, 10]
    assert found[0]["value"] < found[-1]["value"]
    assert found[-1]["guess"] == 1
