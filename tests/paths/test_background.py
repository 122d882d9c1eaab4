"""A search beside a run ends in words, whatever the copy does, and never in an error of the run."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import indent

import numpy as np
import pytest

from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.paths.background import BackgroundSearch, Searched
from dpassay.verifiers.paths.lines import not_exercised
from dpassay.verifiers.paths.search import Candidate, InputSource, PlannedCalls, Tried

CLAIM = {"mechanism": {"name": "gnmax", "noise": "gaussian:40", "classes": 3, "teachers": 9}}

TARGET = """
import numpy as np
{at_import}


def aggregate(histogram, size):
    return np.zeros(size, dtype=int) if histogram[0] == 7 else np.ones(size, dtype=int)
"""


class OneInput(InputSource):
    """Plans one histogram, and knows one more."""

    needed = 10.0

    def planned(self) -> Iterator[PlannedCalls]:
        yield PlannedCalls(((np.array([3, 3, 3]), 2),), (b"even",), (2.0,), (0.1,))

    def candidates(self, constants: Sequence[int]) -> Iterator[Candidate]:
        for constant in constants:
            if constant <= 9:
                votes = np.array([constant, 9 - constant, 0])
                yield Candidate(((votes, 1),), 30.0)

    def across(self, number: int, tried: Tried, turn: int) -> Iterable[Candidate]:
        return ()


def _searched(
    folder: Path, at_import: str = "", attribute: str = "aggregate", **gate: object
) -> Searched:
    file = folder / "target.py"
    file.write_text(TARGET.format(at_import=at_import))
    claim = parse_claim({**CLAIM, "gate": gate})
    return BackgroundSearch(f"{file}:{attribute}", claim, OneInput, refuses=False).wait()


def test_what_the_plan_does_not_take_is_reached_by_a_number_in_the_source(tmp_path: Path) -> None:
    found = _searched(tmp_path)
    assert found.why is None
    taken = {(one.decision.text, one.outcome[1]) for one in found.reached}
    assert ("histogram[0] == 7", "true") in taken
    assert "1 decision in target.py was counted on a copy" in found.words
    assert found.left_out == ()


@pytest.mark.parametrize("redact", [True, False])
def test_a_redacted_search_has_the_lines_and_not_their_text(tmp_path: Path, redact: bool) -> None:
    found = _searched(tmp_path, redact=redact)
    assert found.search is not None
    never, *_ = not_exercised(found.search, set(), 1_000)
    shown = "" if redact else "histogram[0] == 7"
    assert never.message == f"not exercised: target.py:7 ({shown or 'true'})"
    where = {"file": "target.py", "line": 7, "outcome": "true", "answers": 0}
    assert never.fields == where | ({"text": shown} if shown else {})
    assert {one.text for one in found.search.shadow.decisions if one.shown} == {shown}


def test_a_line_that_allow_names_is_told_beside_and_takes_no_place(tmp_path: Path) -> None:
    """Of what eight lines lack three are told, and of these none that the claim spares."""
    more = "\n".join(f"if HELD == {n}: HELD = 0" for n in range(100, 108))
    head = "HELD = 1\n\n\ndef aggregate(histogram, size):\n    HELD = size\n"
    file = tmp_path / "target.py"
    file.write_text(f"{head}{indent(more, '    ')}\n    return [1] * size\n")
    lacking = [f"path-never:target.py:{line}" for line in range(6, 14)]
    for spared, told in (([], lacking[:3]), (lacking[:2], lacking[:5])):
        claim = parse_claim({**CLAIM, "gate": {"allow": spared}})
        found = BackgroundSearch(f"{file}:aggregate", claim, OneInput, refuses=False).wait()
        assert found.search is not None
        lines = not_exercised(found.search, set(), 1_000)
        assert [note.at_line for note in lines] == told


def test_a_forbidden_act_ends_the_search_with_its_name(tmp_path: Path) -> None:
    outside = tmp_path.parent / "outside.log"
    found = _searched(tmp_path, at_import=f"open({str(outside)!r}, 'a').write('x')")
    assert not outside.exists()
    assert found.search is None
    assert "outside.log" in (found.why or "")
    assert "may change nothing outside its own folder" in found.left_out[0].message


def test_a_name_that_is_not_there_is_told_as_it_was_written(tmp_path: Path) -> None:
    found = _searched(tmp_path, attribute="agregate")
    assert "target.py" in (found.why or "")
    assert "agregate" in (found.why or "")
    assert "/target/" not in (found.why or "")


def test_what_few_answers_took_is_told_with_their_number(tmp_path: Path) -> None:
    """Two answers of a thousand are seldom; of twenty they are many, and still tell nothing."""
    found = _searched(tmp_path)
    assert found.search is not None
    few = {line.code: line.message for line in not_exercised(found.search, set(), 1_000)}
    assert few["path-never"] == "not exercised: target.py:7 (histogram[0] == 7)"
    assert (
        "seldom: target.py:7 (not (histogram[0] == 7)) in calls for about 2 of 1,000"
        in (few["path-seldom"])
    )
    many = {line.code: line.message for line in not_exercised(found.search, set(), 20)}
    assert many["path-seldom"].startswith("hardly tested: target.py:7")
    outcomes = found.search.exercised.outcomes | found.search.met
    assert not_exercised(found.search, outcomes, 1_000) == []
