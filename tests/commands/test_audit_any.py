"""`dpassay audit` of a claim without a law: bounds of each pair, verdicts, and misuse."""

import json
import math
import tomllib
from typing import Any

import numpy as np
import pytest
from typed import typed

from dpassay.attacks.auditing.coin import CoinAudit
from dpassay.verifiers.commands import audit_any
from dpassay.verifiers.kinds.lawless.pair_audit import PairAudit
from dpassay.verifiers.kinds.lawless.privacy_audit import LawlessPrivacyAudit
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.targets import InProcessTarget

SERVICE = """
import numpy as np

rng = np.random.default_rng(5)


def right(data, size):
    return [float(len(data["rows"]) + rng.laplace()) for _ in range(size)]


def bare(data, size):
    return [len(data["rows"]) + round(rng.laplace(0, 0.1), 1) for _ in range(size)]


def still(data, size):
    return [float(rng.laplace()) for _ in range(size)]
"""

PAIR = "[[pairs]]\nname = 'one more'\nhere = {rows = [3, 5]}\nthere = {rows = [3, 5, 8]}\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "service.py").write_text(SERVICE)

    def claim(privacy: str = "epsilon = 1.0\ndelta = 0", head: str = "", most: int = 700) -> None:
        (tmp_path / "any.toml").write_text(
            f'{head}[mechanism]\nname = "any"\n[privacy]\n{privacy}\n'
            f"[gate]\nmax_queries = {most}\n{PAIR}"
        )

    claim()
    return claim


@pytest.mark.slow("over half a second")
def test_the_bound_of_a_pair_lies_below_its_epsilon(folder) -> None:
    """Laplace noise of scale 1: epsilon 1; above it with probability 1 in 20, the seed is fixed."""
    done = typed("audit", "service.py:right", "--claim", "any.toml", "--json", "--seed", "3")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["verdict"] == "pass"
    assert 0.1 < found["epsilon_lower"] < 1.0
    assert found["delta"] == 0.0
    assert found["confidence"] == 0.95
    (pair,) = found["pairs"]
    assert "'one more'" in pair["pair"]
    assert found["queries"] == pair["draws"] <= 700
    assert pair["bounds"][0]["epsilon_lower"] == found["epsilon_lower"]


@pytest.mark.slow("over half a second")
def test_a_curve_is_bounded_at_several_deltas_and_refuted(folder) -> None:
    folder("gdp = 0.5", most=100)
    done = typed("audit", "service.py:bare", "--claim", "any.toml")
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("FAIL: ")
    told = [line for line in lines if "at delta" in line]
    assert len(told) == 4
    assert any(line.endswith("refuted") for line in told)


def test_all_bounds_and_all_draws_together_share_the_error(monkeypatch) -> None:
    """Half each, of 0.05; no line is refuted by its own draws where all draws do not refute."""
    text = '[mechanism]\nname = "any"\n[privacy]\ngdp = 0.5\n[gate]\nmax_queries = 145\n'
    claim = parse_claim(tomllib.loads(text + PAIR + PAIR.replace("one more", "another")))
    spent, made = list[float](), list[Any]()

    class Together(LawlessPrivacyAudit):
        log_e_value = 0.0

        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            made.append(self)

    def least_epsilon(pair: PairAudit, delta: float, error: float) -> float:
        spent.append(error)
        return 0.0

    monkeypatch.setattr(audit_any, "LawlessPrivacyAudit", Together)
    monkeypatch.setattr(PairAudit, "least_epsilon", least_epsilon)
    monkeypatch.setattr(CoinAudit, "observe", lambda *_: None)
    monkeypatch.setattr(CoinAudit, "log_e_value", math.log(1e6))
    rng = np.random.default_rng(0)
    target = InProcessTarget(
        lambda data, size: [rng.random() for _ in range(size)], release=claim.release
    )
    found = audit_any.audit_any(target, claim, 0)
    assert len(spent) == len(found.pairs) * 4
    assert [sum(spent), math.exp(-made[0].log_threshold)] == pytest.approx([0.025, 0.025])
    assert not any(line.refuted for pair in found.pairs for line in pair.bounds)


@pytest.mark.slow("over half a second")
def test_nothing_is_told_of_replies_that_know_no_input(folder) -> None:
    done = typed("audit", "service.py:still", "--claim", "any.toml")
    assert done.returncode == 3, done.stderr
    assert "epsilon at least 0," in done.stdout


@pytest.mark.slow("over half a second")
def test_drawn_pairs_have_their_bounds_too(folder) -> None:
    folder(head='search = "rows"\n', most=700)
    done = typed("audit", "service.py:bare", "--claim", "any.toml", "--json")
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert len(found["pairs"]) > 3
    assert any("drawn: none, and" in pair["pair"] for pair in found["pairs"])
    assert found["queries"] <= 700


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["service.py:right", "--pair", "1,2", "2,1"], "--pair does not belong to a claim without"),
        (["service.py:right", "service.py:bare"], "OTHER does not belong to a claim without a law"),
        ([], "name a TARGET"),
    ],
)
def test_misuse_is_one_line(folder, given, said) -> None:
    done = typed("audit", *given, "--claim", "any.toml")
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow("over half a second")
def test_too_few_queries_are_told(folder) -> None:
    folder(most=63)
    done = typed("audit", "service.py:right", "--claim", "any.toml")
    assert done.returncode == 2
    assert "max_queries = 63: " in done.stderr
    assert "64 draws" in done.stderr
