"""A claim in a file; reports of real runs, one of each kind, made once."""

from pathlib import Path
from typing import Any

import pytest
from runs import TOML
from small import drawing, small_claim

from dpassay.verifiers.claim import Claim
from dpassay.verifiers.findings.report import Report
from dpassay.verifiers.gate import verify

HOSTILE = "<script>alert(1)</script> ]]> \"quoted\" 'and' &amp; [red]\x1b[31m\u202e\ud800\x00"


@pytest.fixture
def claim_file(tmp_path: Path) -> str:
    """Path of a claim of GNMax, as a command takes it."""
    path = tmp_path / "claim.toml"
    path.write_text(TOML)
    return str(path)


@pytest.fixture(scope="session")
def reports() -> dict[str, Report]:
    """By kind; the message of `error` is hostile, `costly` fails by its privacy claim alone."""

    def run(claim: Claim, **how: Any) -> Report:
        return verify(drawing(claim, **how), claim, seed=0, reproduce="dpassay verify a.py:b")

    plain = small_claim()
    short = {"max_queries": 1000}  # a whole run takes seconds
    privacy = {"epsilon": 0.5, "delta": 1e-5, "queries": 100}
    return {
        "pass": run(plain),
        "fail": run(plain, scale=0.5),
        "far": run(plain, scale=30.0),
        "error": run(plain, stop_at=20, error=RuntimeError(HOSTILE)),
        "inconclusive": run(small_claim(gate={"max_queries": 300})),
        "interrupted": run(plain, stop_at=20, error=KeyboardInterrupt()),
        "refusing": run(small_claim("confident-gnmax", gate=short)),
        "costly": run(small_claim(privacy=privacy, gate=short)),
    }
