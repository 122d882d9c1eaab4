"""The rows from which a log may have changed, and the scale that it may have since."""

import numpy as np
import pytest
from drawn_rows import drawn
from small import small_claim

from dpassay.verifiers.kinds.labels.logs import changes
from dpassay.verifiers.kinds.labels.logs.costs import Costs
from dpassay.verifiers.kinds.labels.logs.findings import log_results
from dpassay.verifiers.kinds.labels.logs.judge import LogEvidence, chunks

START = 1_767_225_600.0  # 2026-01-01T00:00:00Z


def fields_of(rows, size=700):
    """The fields of what is found on the labels."""
    evidence = LogEvidence(small_claim(), 0)
    for chunk in chunks(rows, size):
        evidence.observe(chunk)
    results = log_results(evidence, Costs(evidence.claim))
    return next(r for r in results if r.id == "class-probabilities").fields


def timed(rows, form):
    """The rows, a minute apart; form: how the log writes times."""
    at = [START + 60.0 * number for number in range(len(rows))]
    return [
        row._replace(time=time, time_text=form(time)) for row, time in zip(rows, at, strict=True)
    ]


@pytest.mark.slow("many logs; that more rows say it more exactly is quick")
def test_rows_and_scale_of_a_change_are_within_their_intervals():
    """At 0.99, four or more of 10 logs are missed with probability 2e-6.

    Catches an interval of the rows that fit best alone, which leaves out the true row in most logs.
    """
    missed, widths = 0, []
    for seed in range(10):
        fields = fields_of(drawn(1500, seed) + drawn(1200, 50 + seed, 0.5))
        rows = fields["from_row_low"] <= 1501 <= fields["from_row_high"]
        missed += not (rows and fields["factor_low"] < 0.5 < fields["factor_high"])
        widths.append(fields["from_row_high"] - fields["from_row_low"])
        assert fields["from_row_low"] <= fields["from_row"] <= fields["from_row_high"]
        assert 0.25 < fields["factor_low"] < fields["factor_high"] < 1.0
    assert missed < 4
    assert 10 < np.median(widths) < 700


def test_rows_and_scale_share_the_error():
    each = changes._EACH
    assert each + each == pytest.approx(1.0 - changes.CONFIDENCE)


@pytest.mark.slow("over half a second")
def test_more_rows_say_the_scale_more_exactly():
    """Catches an interval of the wagers alone, whose nearest scales are 0.25 and 0.67."""
    rows = drawn(1000, 3) + drawn(20_000, 4, 0.5)
    few, many = (fields_of(rows[:end]) for end in (2500, len(rows)))
    assert few["factor_low"] < many["factor_low"] < 0.5 < many["factor_high"] < few["factor_high"]
    assert many["factor_high"] - many["factor_low"] < 0.12


@pytest.mark.slow("over half a second")
def test_how_rows_are_added_changes_no_interval():
    """Catches rows that are looked for in the wrong chunk."""
    rows = drawn(1500, 5) + drawn(500, 6, 0.5)
    one, other = (fields_of(rows, size) for size in (23, 2000))
    assert dict(one) == pytest.approx(dict(other))


@pytest.mark.slow("over half a second")
def test_rows_are_told_with_their_times():
    """As the log writes them. Catches times of another row, and seconds in place of dates."""
    rows = drawn(1500, 7) + drawn(1000, 8, 0.5)
    utc = fields_of(timed(rows, lambda t: str(np.datetime64(int(t), "s")) + "Z"))
    plain = fields_of(timed(rows, lambda t: f"{t:.0f}"))
    for which in ("low", "high"):
        seconds = START + 60.0 * (utc[f"from_row_{which}"] - 1)
        assert float(plain[f"from_time_{which}"]) == seconds
        assert utc[f"from_time_{which}"] == str(np.datetime64(int(seconds), "s")) + "Z"
    assert float(plain["time"]) == START + 60.0 * (plain["row"] - 1)
    assert "time" not in fields_of(rows)


@pytest.mark.parametrize("text", ["1767225600", "1767225600000", "2026-01-01T00:00:00Z"])
def test_times_of_all_rows_are_kept_as_numbers(text):
    """Catches a text of each row, which takes ten times the memory."""
    kept = changes.Changes(None)  # no law is asked
    (row,) = drawn(1, 1)
    rows, none = [row._replace(time=START, time_text=text), row], np.zeros((2, 1))
    kept.observe(rows, np.zeros(2, dtype=np.int64), none, none[0])
    assert (kept.time(1), kept.time(2)) == (text, None)
    assert kept._times.itemsize == 8


def test_a_fault_from_the_first_row_on_may_have_begun_there():
    """The likeliest row is a later one, as the first labels happen to speak for the claim."""
    fields = fields_of(drawn(2000, 9, 0.5))
    assert fields["from_row"] > fields["from_row_low"] == 1


@pytest.mark.slow("over half a second")
def test_noise_that_was_missing_for_a_while_is_told_although_it_came_back():
    """Catches a cause, and a row, that are looked for at the end of the log alone."""
    rows = drawn(6000, 10)
    for at in range(2500, 2650):
        rows[at] = rows[at]._replace(label=int(np.argmax(rows[at].histogram)))
    for size in (700, 6000):
        evidence = LogEvidence(small_claim(), 0)
        for chunk in chunks(rows, size):
            evidence.observe(chunk)
        results = log_results(evidence, Costs(evidence.claim))
        told = next(r for r in results if r.id == "class-probabilities")
        assert (told.verdict, told.code) == ("fail", "noise-missing")
        fields = told.fields
        assert 2400 < fields["from_row_low"] <= 2501 <= fields["from_row_high"] < 2650
