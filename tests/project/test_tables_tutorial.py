"""The tutorial of an engine does what it says, as it stands on its page."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from dpassay.verifiers.claims.open_target import open_claimed
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify

PAGE = (Path(__file__).parents[2] / "docs" / "tutorial" / "tables.md").read_text()


def blocks(language: str) -> Any:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


SOURCE, BOUNDED, NOISE, WHOLE = blocks("python")
(CLAIM,) = blocks("toml")
(MISSING,) = re.findall(r"^missing = .*\n", PAGE, re.MULTILINE)
PLACES = {
    NOISE: '        city: {"count"',
    BOUNDED: "    return {pair: some(values, 2)",
    WHOLE: "    listed = ",
}
"""What the page puts in place of the line that begins so."""


def mended(*lines: str) -> str:
    """The engine with what the page has put in its place so far."""
    source: str = SOURCE
    for new in lines:
        (old,) = (line for line in source.splitlines(True) if line.startswith(PLACES[new]))
        source = source.replace(old, new)
    return source


def judged(folder: Path, source: str, claim: str = CLAIM) -> Report:
    (folder / "engine.py").write_text(source)
    parsed: Any = parse_claim(tomllib.loads(claim))
    target = open_claimed(f"{folder / 'engine.py'}:aggregate", parsed)
    try:
        return verify(target, parsed, seed=7)
    finally:
        target.close()


def with_missing() -> str:
    assert 'kept = "uniform"\n' in CLAIM
    whole: str = CLAIM.replace('kept = "uniform"\n', 'kept = "uniform"\n' + MISSING)
    return whole


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("lines", "claim", "check", "said"),
    [
        ((), CLAIM, "contribution-bounding", "max_partitions is not enforced"),
        ((BOUNDED,), CLAIM, "noise-scale", "max_partitions = 3 is missing"),
        ((BOUNDED, NOISE), with_missing(), "contribution-bounding", "makes the sum no number"),
    ],
)
def test_each_fault_is_found_and_named_in_the_words_of_the_page(
    tmp_path, lines, claim, check, said
) -> None:
    """Catches a page whose engine, or whose cause, is another one.

    A third of the noise is told by its cause or, where few releases are at hand, by its estimate.
    """
    report = judged(tmp_path, mended(*lines), claim)
    failed = {c.id: c.diagnosis or "" for c in report.checks if c.verdict is Verdict.FAIL}
    (code,) = (c.code for c in report.checks if c.id == check)
    assert f"{check} [{code}]" in PAGE
    estimate = r"noise of 0\.[2-4]" if check == "noise-scale" else said
    assert re.search(f"{said}|{estimate}", failed[check]), failed
    assert said in PAGE


@pytest.mark.slow("two passes of some thousand releases; the faults show that the engine runs")
@pytest.mark.parametrize(
    ("lines", "claim"), [((BOUNDED, NOISE), CLAIM), ((BOUNDED, NOISE, WHOLE), with_missing())]
)
def test_the_mended_engine_passes(tmp_path, lines, claim) -> None:
    """A correct one fails with probability 1e-6 at most."""
    assert judged(tmp_path, mended(*lines), claim).verdict is Verdict.PASS
