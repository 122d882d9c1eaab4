"""A claim in a file; reports of real runs, one of each kind, made once."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from added_packages import lay, on_the_path
from claims import KEYS, histogram, in_toml
from runs import TOML
from small import drawing, small_claim

from dpassay.verifiers.findings.report import Report
from dpassay.verifiers.kinds.labels.claim import LabelsClaim
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

HOSTILE = "<script>alert(1)</script> ]]> \"quoted\" 'and' &amp; [red]\x1b[31m\u202e\ud800\x00"


@pytest.fixture
def claim_file(tmp_path: Path) -> str:
    """Path of a claim of GNMax, as a command takes it."""
    path = tmp_path / "claim.toml"
    path.write_text(TOML)
    return str(path)


@pytest.fixture(scope="module")
def logistic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """`logistic:SCALE` names noise: its package, an example of the pages, is installed."""
    site = tmp_path_factory.mktemp("site")
    lay("noise", site)
    with on_the_path(site):
        yield


class Made(Mapping[str, Report]):
    """Reports by kind, each made when somebody asks for it."""

    def __init__(self, ways: dict[str, Callable[[], Report]]) -> None:
        self._ways = {kind: cache(way) for kind, way in ways.items()}

    def __getitem__(self, kind: str) -> Report:
        return self._ways[kind]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._ways)

    def __len__(self) -> int:
        return len(self._ways)


@pytest.fixture(scope="session")
def reports() -> Mapping[str, Report]:
    """By kind; the message of `error` is hostile, `costly` fails by its privacy claim alone."""

    def run(claim: LabelsClaim, **how: Any) -> Report:
        return verify(drawing(claim, **how), claim, seed=0, reproduce="dpassay verify a.py:b")

    plain = small_claim()
    short = {"max_queries": 1000}  # a whole run takes seconds
    privacy = {"epsilon": 0.5, "delta": 1e-5, "queries": 100}
    return Made(
        {
            "pass": lambda: run(plain),
            "fail": lambda: run(plain, scale=0.5),
            "far": lambda: run(plain, scale=30.0),
            "error": lambda: run(plain, stop_at=20, error=RuntimeError(HOSTILE)),
            "inconclusive": lambda: run(small_claim(gate={"max_queries": 300})),
            "interrupted": lambda: run(plain, stop_at=20, error=KeyboardInterrupt()),
            "refusing": lambda: run(small_claim("confident-gnmax", gate={"max_queries": 2000})),
            "costly": lambda: run(small_claim(privacy=privacy, gate=short)),
        }
    )


NUMBERS = in_toml(mechanism=histogram(cells=4), gate={"max_queries": 600})

KEYS_CLAIM = in_toml(mechanism=KEYS, gate={"max_queries": 1500})


@pytest.fixture(scope="session")
def number_reports() -> Mapping[str, Report]:
    """By kind; the message of `raising` is hostile, `bare` has no noise at all."""

    def run(text: str, target: Any = None, more: str = "") -> Report:
        claim = parse_claim(tomllib.loads(text + more))
        made = claim.kind.reference(claim)
        if target is not None:
            made = InProcessTarget(target, release=claim.release)
        return verify(made, claim, seed=0, reproduce="dpassay verify a.py:b", name="a.py:b")

    def raising(values: Any, size: int) -> Any:
        raise RuntimeError(HOSTILE)

    def half(values: Any, size: int) -> Any:
        return values + np.random.default_rng().laplace(0.0, 1.0, (size, len(values)))

    def every(values: Any, size: int) -> Any:
        return [[{"key": key} for key in range(len(values))]] * size

    privacy = "\n[privacy]\nepsilon = 1.0\ndelta = 1e-9\nqueries = 1\n"
    clamped = NUMBERS.replace("laplace:2", "laplace:2;round;min=0;max=30")
    return Made(
        {
            "numbers": lambda: run(NUMBERS),
            "clamped": lambda: run(clamped),
            "half": lambda: run(NUMBERS, half),
            "bare": lambda: run(NUMBERS, lambda values, size: np.tile(values, (size, 1))),
            "raising": lambda: run(NUMBERS, raising),
            "keys": lambda: run(KEYS_CLAIM, more=privacy),
            "every": lambda: run(KEYS_CLAIM, every),
        }
    )
