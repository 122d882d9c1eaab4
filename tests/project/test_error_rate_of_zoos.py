"""How often the correct deployments of all zoos fail: which are run, and what is told of one."""

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import batch_zoo
import numeric_zoo
import pytest
import table_zoo

import zoo
from dpassay.verifiers.findings.verdict import Verdict

tally_zoo = pytest.importorskip("tally_zoo", reason="needs the extra `tally`")
# from the repository's root, which is not on the path of what types are checked by
zoos = import_module("benchmarks.error_rate.zoos")


def test_every_correct_one_is_run() -> None:
    """Catches two of one name, and a zoo that is left out."""
    of_law = (zoo, numeric_zoo, table_zoo, tally_zoo, batch_zoo)
    without_law = [name for name in zoos.rights() if name.startswith("any ")]
    assert len(zoos.rights()) - len(without_law) == sum(len(one.CORRECT) for one in of_law)
    assert len(without_law) >= 12


@pytest.mark.slow("over half a second")
def test_a_wrong_one_is_told_by_its_check_and_name(monkeypatch: Any) -> None:
    """Catches deployments that are mixed up, and a name whose comma would part it."""
    right = zoos.rights()["batches fixed"]
    wrong = zoos.rights()["batches Poisson"]._replace(claim=right.claim)
    monkeypatch.setattr(zoos, "rights", lambda: {"right": right, "wrong, by size": wrong})
    monkeypatch.setitem(zoos.SETTINGS, "few", {"max_queries": 100})
    (first, good), (second, told) = zoos.verdicts("few", 4, 6)
    assert (first, good, second) == ("inconclusive", "", "fail")
    assert told.split(", ") == ["batch-size of wrong by size"]


def test_no_seed_comes_twice(monkeypatch: Any) -> None:
    """Catches settings that begin at the same seed, and runs that are left out."""
    seeds: list[int] = []
    right = zoos.rights()["batches fixed"]

    def noted(*_: Any, seed: int, **__: Any) -> Any:
        seeds.append(seed)
        return SimpleNamespace(verdict=Verdict.PASS, checks=())

    monkeypatch.setattr(zoos, "verify", noted)
    monkeypatch.setattr(zoos, "rights", lambda: {"right": right})
    made = [zoos.verdicts(*part) for _, parts in zoos.settings(6, 2) for part in parts]
    assert [len(some) for some in made] == [5, 1, 5, 1, 1, 1]
    assert len(set(seeds)) == len(seeds) == 14
