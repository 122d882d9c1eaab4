"""`python -m benchmarks.gradients.some`: means, intervals and what several rounds gain, by hand."""

import json
import sys
from importlib import import_module

import pytest

some = import_module("benchmarks.gradients.some")
AREAS = {0: (0.80, 0.90, 0.91), 1: (0.84, 0.82, 0.83)}
"""By seed: two rounds alone, and both together."""


def played(name, seed):
    """What `measured` gives, of two rounds, which count as five where HEADLINE does."""
    first, second, both = AREAS[seed]
    measures = [dict.fromkeys(some.MEASURES, area) for area in (first, second, both)]
    reader = {
        "single": measures[:2],
        "until": [measures[0], measures[2]],
        "information": {"value": 0.1, "low": 0.05, "high": 0.2},
        "within": {"success": {"value": 0.8, "low": 0.75, "high": 0.85}},
    }
    return {"readers": {"static max-pooling": reader}, "prior": [0.6, 0.4], "utility": 0.7}


@pytest.fixture(autouse=True)
def two_rounds(monkeypatch) -> None:
    for name in ("measured", "told_apart"):
        monkeypatch.setattr(some, name, played)
    monkeypatch.setattr(some, "HEADLINE", 2)


def test_figures_are_means_with_students_intervals() -> None:
    """Of 0.91 and 0.83: 12.706 standard errors of 0.04 to either side, cut at 0 and 1."""
    found = some.figures("users", 2)
    reader = found["adversaries"]["static_max_pooling"]
    together = reader["together"][1]["auroc"]
    assert together["mean"] == pytest.approx(0.87)
    assert together["values"] == [0.91, 0.83]
    assert (together["low"], together["high"]) == (pytest.approx(0.87 - 12.706 * 0.04, abs=1e-4), 1)
    assert reader["gained"]["mean"] == pytest.approx((0.11 - 0.01) / 2)
    assert reader["gained"]["low"] == pytest.approx(0.05 - 12.706 * 0.06, abs=1e-4)
    assert reader["beaten"] == 1
    assert found["for_all"] is None


def test_the_command_prints_one_object_or_a_table(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["some", "users", "strokes", "--seeds", "2", "--json"])
    some.main()
    found = json.loads(capsys.readouterr().out)
    assert (found["seeds"], [game["game"] for game in found["games"]]) == (2, ["users", "strokes"])
    monkeypatch.setattr(sys, "argv", ["some", "users", "--seeds", "2"])
    some.main()
    text = capsys.readouterr().out
    assert "2 rounds together" in text
    assert "in 1 seeds" in text
