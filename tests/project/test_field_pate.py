"""The rows of `benchmarks.field_pate` are well-formed, and a page can be made of them.

No code of others is needed: no row is run.
"""

import tomllib
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.kinds.reading import parse_claim

# from the repository's root, which is not on the path of what types are checked by
field = import_module("benchmarks.field_pate.__main__")
pages = import_module("benchmarks.field_pate.page")
bases = import_module("benchmarks.field_pate.code_bases")


def test_a_row_has_its_wrapper_claim_and_code() -> None:
    """Catches a check, a file or a code base that is mistyped, and a wrong verdict unexplained."""
    for row in field.ROWS:
        assert row.script.is_file(), row
        assert (row.source in field.CODE_BASES) != (row.source in field.ENVIRONMENTS), row
        parse_claim(tomllib.loads(row.claim_file.read_text()))
        assert {*row.caught, *([row.alone] if row.alone else [])} <= set(SHARES), row
        assert bool(row.cause) == bool(row.caught), row


def test_no_row_is_there_twice() -> None:
    assert len({row.name for row in field.ROWS}) == len(field.ROWS)


def test_no_wrapper_or_claim_is_left_over() -> None:
    used = {row.claim_file for row in field.ROWS}
    assert used == set(field.CALLS.glob("*.toml"))


def report(verdict, check="", cause=""):
    """What `agreement` reads of a report."""
    failed = {"id": check, "verdict": "fail", "message": "m", "diagnosis": cause}
    return {"verdict": verdict, "checks": [failed] if check else []}


def test_a_row_agrees_where_verdict_check_and_cause_are_as_expected() -> None:
    """Catches a failure of another check, or for another cause, that counts as found."""
    right = replace(field.ROWS[0], caught=(), cause="")
    wrong = replace(right, caught=("noise-scale",), cause="half the")
    assert pages.agreement(right, report("pass")) == "yes"
    assert pages.agreement(right, report("error")).startswith("NO")
    assert pages.agreement(wrong, report("fail", "noise-scale", "half the scale")) == "yes"
    assert pages.agreement(wrong, report("fail", "noise-scale", "twice")).startswith("NO")
    assert pages.agreement(wrong, report("fail", "order", "half the scale")).startswith("NO")
    assert pages.agreement(wrong, report("pass")).startswith("NO")


def test_a_row_without_its_code_is_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a row that is dropped unsaid."""
    monkeypatch.setattr(bases, "FOLDER", tmp_path)
    row = next(row for row in field.ROWS if row.source in field.CODE_BASES)
    there, missing = field.made([row], tmp_path)
    assert there == []
    assert row.call in missing[0][0]
    assert "no repository" in missing[0][1]
