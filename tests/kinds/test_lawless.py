"""Claims without a law: their guarantees, what of replies is looked at, and whole runs."""

import json
import math
import tomllib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from typed import typed

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.kinds.lawless.features import MOST, Features
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget
from dpassay.verifiers.targets.anything import AnyRelease
from dpassay.verifiers.targets.replies import CallError, plain_json

PAIR = "[[pairs]]\nhere = {n = 1}\nthere = {n = 2}\n"


def claim_of(privacy: str, pairs: str = PAIR) -> Any:
    text = f'[mechanism]\nname = "any"\ncaching = false\n[privacy]\n{privacy}\n{pairs}'
    return parse_claim(tomllib.loads(text))


def test_a_gaussian_curve_is_judged_on_its_line() -> None:
    """Against the law of two normals mu apart, by its integral; catches mu for 1/mu."""
    for guarantee in claim_of("gdp = 0.7").privacy.lines:
        x = np.linspace(-12.0, 12.7, 400_001)
        excess = norm.pdf(x, 0.7) - math.exp(guarantee.epsilon) * norm.pdf(x)
        delta = float(np.maximum(excess, 0.0).sum() * (x[1] - x[0]))
        assert guarantee.delta == pytest.approx(delta, abs=1e-6)


@pytest.mark.parametrize("text", ["zcdp = 0.245", "rdp = [[2, 0.49], [8, 1.96], [32, 7.84]]"])
def test_renyi_costs_are_judged_by_weaker_guarantees(text) -> None:
    """The mechanism of gdp = 0.7 keeps them: none is below its exact delta at that epsilon."""
    for guarantee in claim_of(text).privacy.lines:
        e, mu = guarantee.epsilon, 0.7
        exact = norm.cdf(mu / 2 - e / mu) - math.exp(e) * norm.cdf(-mu / 2 - e / mu)
        assert guarantee.delta >= exact - 1e-12


@pytest.mark.parametrize(
    ("privacy", "pairs", "said"),
    [
        ("", PAIR, "epsilon"),
        ("epsilon = 1.0\ndelta = 0\ngdp = 1.0", PAIR, "expected one form of the guarantee"),
        ("gdp = 1.0\nzcdp = 1.0", PAIR, "gdp and zcdp: expected one form"),
        ("guarantees = [[1.0]]", PAIR, "expected [epsilon, delta]"),
        ("rdp = [[1, 0.5]]", PAIR, "expected orders above 1"),
        ("epsilon = 1.0\ndelta = 0", "", "pairs is missing"),
        ("epsilon = 1.0\ndelta = 0", PAIR.replace("2", "1"), "are the same input"),
        ("epsilon = 1.0\ndelta = 0", "[[pairs]]\nhere = 1\n", "there"),
        ("epsilon = 1.0\ndelta = 0\nqueries = 3", PAIR, "queries"),
        ("gdp = 50.0", PAIR, "gdp = 50.0: it claims nothing"),
        ("epsilon = 1.0\ndelta = 0", PAIR.replace("2", "2024-01-01"), "pairs, 1: there is no JSON"),
        ("epsilon = 1.0\ndelta = 0", PAIR + "nam = 3\n", "(did you mean name?): allowed are here"),
    ],
)
def test_a_claim_that_is_none_is_told(privacy, pairs, said) -> None:
    with pytest.raises(ClaimError) as error:
        claim_of(privacy, pairs)
    assert said in str(error.value)


def test_a_claim_with_nothing_to_judge_is_misuse() -> None:
    with pytest.raises(ClaimError, match=r"\[privacy\] is missing"):
        parse_claim(tomllib.loads('[mechanism]\nname = "any"\n' + PAIR))


def test_replies_of_any_form_are_plain_json() -> None:
    made = {"a": np.array([1, 2]), "b": (np.float64(0.5), {3, 1}), "c": None, "d": object}
    found = plain_json(made)
    assert found["a"] == [1, 2]
    assert found["b"] == [0.5, [1, 3]]
    assert plain_json([np.array([(1, 2.5)], "i8, f8")[0]]) == [[1, 2.5]]  # a scalar of two fields
    assert json.loads(json.dumps(found))["c"] is None
    with pytest.raises(CallError) as error:
        AnyRelease().shaped([1], {"n": 1}, 2)
    assert error.value.code == "reply-malformed"


def test_what_varies_is_looked_at_and_what_is_absent_differs() -> None:
    replies = [{"x": k % 3, "fixed": 1, "words": "a b" if k % 2 else "a"} for k in range(64)]
    features = Features(replies)
    assert ".x" in features.paths
    assert ".words word b" in features.paths
    assert ".fixed" not in features.paths
    row = features.of([{"words": "b b"}])[0]
    assert row[features.paths.index(".words word b")] == 2.0
    assert row[features.paths.index(".x")] < -1e9
    many = Features([{str(i): (i * k) % 7 for i in range(99)} for k in range(64)])
    assert len(many.paths) == MOST


def replies(kind: str, scale: float, seed: int) -> Any:
    """Deployments of a count n: of numbers, of a text, of a table of three cells."""
    rng = np.random.default_rng([seed, 2])

    def one(data: Any) -> Any:
        noisy = float(data["n"] + rng.laplace(0.0, scale))
        if kind == "number":
            return noisy
        if kind == "text":
            return f"there are {round(noisy)} of them"
        cells = rng.laplace(0.0, scale, 3)
        return {"cells": [*cells[:2], float(cells[2] + data["n"])], "label": "counts"}

    return lambda data, size: [one(data) for _ in range(size)]


def judged(kind: str, scale: float, seed: int) -> Any:
    claim = claim_of("epsilon = 1.0\ndelta = 1e-6")
    target = InProcessTarget(replies(kind, scale, seed), release=claim.release)
    return verify(target, claim, seed=seed)


@pytest.mark.parametrize("kind", ["number", "text", "table"])
@pytest.mark.quick_cases(1)
def test_half_the_noise_is_found_whatever_the_form(kind) -> None:
    report = judged(kind, 0.4, 1)
    assert report.verdict is Verdict.FAIL
    (failed,) = [check for check in report.checks if check.verdict is Verdict.FAIL]
    assert (failed.id, failed.code) == ("privacy-audit", "inputs-told-apart")
    told = failed.fields
    assert (told["pair"], told["epsilon"], told["delta"]) == (1, 1.0, 1e-6)
    assert 1.0 <= told["refuted_epsilon"] < 2.5  # the true one


@pytest.mark.slow("over half a second")
def test_a_right_one_passes_and_says_what_was_seen() -> None:
    """What the draws prove lies between 0 and the true epsilon, 1; that it does not is 1 in 20."""
    report = judged("number", 1.0, 3)
    assert report.verdict is Verdict.PASS
    message = next(check.message for check in report.checks if check.id == "privacy-audit")
    proved = float(message.split("pair 1 ")[1].split(";")[0])
    assert 0.3 < proved < 1.0


PREDICTOR = """
def parity(reply, here, there):
    return 8.0 if round(reply * 1e6) % 2 == there["n"] % 2 else -8.0

def broken(reply, here, there):
    raise RuntimeError("no key")

words = lambda reply, here, there: "much"
number = 3
"""


def hidden(shown: float, seed: int) -> Any:
    """A right count, but that the parity of its sixth decimal is that of the input, or a coin's."""
    rng = np.random.default_rng([seed, 5])

    def one(data: Any) -> float:
        bit = data["n"] % 2 if rng.random() < shown else rng.integers(2)
        return float((2 * round(5e5 * (data["n"] + rng.laplace())) + bit) / 1e6)

    return lambda data, size: [one(data) for _ in range(size)]


def with_predictor(folder: Any, name: str, shown: float) -> Any:
    (folder / "insider.py").write_text(PREDICTOR)
    path = folder / "insider.py"
    text = f'[mechanism]\nname = "any"\ncaching = false\npredictor = "{path}:{name}"\n'
    claim = parse_claim(tomllib.loads(text + "[privacy]\nepsilon = 1.0\ndelta = 0\n" + PAIR))
    target = InProcessTarget(hidden(shown, 1), release=claim.release)
    return verify(target, claim, seed=1, queries=1_500)


@pytest.mark.slow("over half a second")
def test_a_predictor_finds_what_no_learner_would(tmp_path) -> None:
    """The leak is a parity, of which ranks show nothing; without it the same run passes."""
    assert with_predictor(tmp_path, "parity", 1.0).verdict is Verdict.FAIL
    claim = claim_of("epsilon = 1.0\ndelta = 0")
    target = InProcessTarget(hidden(1.0, 1), release=claim.release)
    assert verify(target, claim, seed=1, queries=1_500).verdict is Verdict.PASS


@pytest.mark.slow("over half a second")
def test_a_predictor_that_is_sure_and_wrong_accuses_nobody(tmp_path) -> None:
    assert with_predictor(tmp_path, "parity", 0.0).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("name", "said"),
    [("broken", "RuntimeError: no key"), ("words", "returned 'much'")],
)
def test_a_predictor_that_fails_is_an_error_of_one_line(tmp_path, name, said) -> None:
    report = with_predictor(tmp_path, name, 0.0)
    assert report.verdict is Verdict.ERROR
    failed = next(check for check in report.checks if check.verdict is Verdict.ERROR)
    assert failed.code == "predictor-failed"
    assert said in failed.message
    assert f"insider.py:{name}" in failed.message


def test_a_predictor_that_is_none_is_misuse(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bare.py").write_text("def bare(data, size):\n    return [1] * size\n" + PREDICTOR)
    for name, said in (
        ("number", "expected a callable"),
        ("none", "has no attribute 'none'"),
    ):
        text = f'[mechanism]\nname = "any"\ncaching = false\npredictor = "bare.py:{name}"\n'
        (tmp_path / "any.toml").write_text(f"{text}[privacy]\nepsilon = 1.0\ndelta = 0\n{PAIR}")
        done = typed("verify", "bare.py:bare", "--claim", "any.toml")
        assert done.returncode == 2
        assert said in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.slow("over half a second")
def test_the_command_tells_a_verdict_and_needs_a_target(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "any.toml").write_text(
        f'[mechanism]\nname = "any"\ncaching = false\n[privacy]\nepsilon = 1.0\ndelta = 0\n{PAIR}'
        "[gate]\nmax_queries = 300\n"
    )
    (tmp_path / "bare.py").write_text("def bare(data, size):\n    return [data['n']] * size\n")
    done = typed("verify", "bare.py:bare", "--claim", "any.toml")
    assert done.returncode == 1, done.stderr
    assert "pair 1" in done.stdout
    alone = typed("verify", "--claim", "any.toml")
    assert alone.returncode == 2
    assert "names no law" in alone.stderr


def one_sided(refuses: Callable[[Any], bool], epsilon: float = 1.0, gate: str = "") -> Report:
    """A run on zeros alone, but for inputs that are refused."""

    def released(data: Any, size: int) -> list[float]:
        if refuses(data["n"]):
            raise ValueError("too many")
        return [0.0] * size

    claim = claim_of(f"epsilon = {epsilon}\ndelta = 0", PAIR + gate)
    return verify(InProcessTarget(released, release=claim.release), claim, seed=1)


@pytest.mark.parametrize("side", [1, 2])
def test_a_refusal_on_one_side_fails(side: int) -> None:
    """It was an error. Fields and message name the pair and its inputs."""
    report = one_sided(lambda n: n == side)
    assert report.verdict is Verdict.FAIL
    (failed,) = [check for check in report.checks if check.verdict is Verdict.FAIL]
    assert (failed.id, failed.code) == ("input-contract", "refusal-tells-inputs-apart")
    assert failed.fields["input"] == "pair 1"
    assert f'never answered, {{"n": {side}}}' in failed.message
    assert "too many" in failed.message
    assert failed.fields["calls"] == 58 == failed.queries - 2  # at 1e-6 / 64 and epsilon 1
    rest = [check for check in report.checks if check is not failed]
    assert {check.code for check in rest} == {"cut-short"}


def test_a_refusal_of_both_sides_or_by_chance_is_told_with_its_input() -> None:
    """Catches a message of the target's words alone, which name no input, and an accusation.

    Null: a coin refuses either input. Rate: 2^-58 for each seed, and the seed is fixed.
    """
    rng, told = np.random.default_rng(3), 0
    for refuses in (lambda n: True, *[lambda n: rng.random() < 0.5] * 5):
        report = one_sided(refuses)
        failed = [check for check in report.checks if check.verdict is Verdict.ERROR]
        assert all(check.code == "claimed-input-refused" for check in failed)
        assert all('({"n": ' in check.message for check in failed)
        assert all("too many" in check.message for check in failed)
        told += len(failed)
        assert not any(check.code == "refusal-tells-inputs-apart" for check in report.checks)
    assert told > 1


def test_a_refusal_that_takes_too_many_calls_to_prove_is_a_warning_that_names_them() -> None:
    """At epsilon 6 some 7,000 calls would have to show it; the run still ends, as it did."""
    report = one_sided(lambda n: n == 2, 6.0, "[gate]\nmax_queries = 5000\n")
    assert report.verdict is Verdict.ERROR
    (noted,) = [note for note in report.notes if note.code == "refusal-not-judged"]
    calls = math.ceil(math.log(64e6) / -math.log(math.exp(6.0) / (1 + math.exp(6.0))))
    assert noted.fields == {"input": "pair 1", "calls": calls, "left": 5000}
    assert f"{calls:,} calls" in noted.message


def test_a_vector_is_one_reply() -> None:
    found = AnyRelease().shaped([[1.0, 2.0]], [0], 1)
    assert found[0] == [1.0, 2.0]
    assert AnyRelease().shaped([[1], [2, 3]], [0], 2)[1] == [2, 3]


def test_queries_say_how_many_draws_there_are() -> None:
    claim = claim_of("epsilon = 1.0\ndelta = 1e-6")
    target = InProcessTarget(replies("number", 1.0, 4), release=claim.release)
    assert verify(target, claim, seed=4, queries=300).queries == 300
    with pytest.raises(ValueError, match="66 or more"):
        verify(target, claim, seed=4, queries=65)
