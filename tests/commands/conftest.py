"""Fixtures of the tests of the pytest plugin and of `assert_conforms`."""

import pytest
from stand_in import CLAIM, SPECIAL, Gate

from dpassay.verifiers.testing import conformance, shared_run


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    stand_in = Gate(SPECIAL)
    for runs_it in (conformance, shared_run):
        monkeypatch.setattr(runs_it, "verify", stand_in)
    return stand_in


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A user's project: one test of its own, and a claim."""
    pytester.makeini("[pytest]\naddopts = --strict-markers\nfilterwarnings = error\n")
    pytester.makepyfile(test_mine="def test_mine(): pass")
    (pytester.path / "claim.toml").write_text(CLAIM)
    return pytester
