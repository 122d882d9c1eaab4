"""Noise that is missing in a part of a log: of inputs, weekdays, columns, positions and windows."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from drawn_rows import HISTOGRAMS, drawn
from small import small_claim

from dpassay.verifiers.inputs.input_error import ColumnsError
from dpassay.verifiers.kinds.labels.logs.costs import Costs
from dpassay.verifiers.kinds.labels.logs.findings import log_results
from dpassay.verifiers.kinds.labels.logs.judge import LogEvidence, chunks
from dpassay.verifiers.kinds.labels.logs.laws import POWERS, Alternatives
from dpassay.verifiers.kinds.labels.logs.saved import bytes_of, restore
from dpassay.verifiers.kinds.labels.logs.strata import WEIGHTS, AllStrata
from dpassay.verifiers.kinds.labels.logs.verify_log import verify_log

ROWS = 6000
CLAIM = small_claim(log={"columns": ["region", "model"]})
DAY = 86400.0
CLEAR = [(34, 4, 1, 1), (1, 33, 3, 3), (2, 2, 34, 2), (38, 2, 0, 0)]
"""Histograms on which nearly every label is the plurality's."""


def asked(rows=ROWS, seed=1, histograms=HISTOGRAMS):
    """Rows of 60 inputs, of 50 days, of 6 regions and of 15 models, in turns of no common length.

    The histogram of a row says nothing of its region, model or day.
    """
    rng = np.random.default_rng([7, seed])
    region, model, key = (rng.integers(0, n, rows) for n in (6, 15, 60))
    each = rows / 50.0
    of_key = np.array(histograms)[key % len(histograms)]
    noise = rng.normal(0.0, 10.0, of_key.shape)
    drawn_rows = drawn(rows, seed, histograms=histograms)
    return [
        row._replace(
            histogram=tuple(of_key[at].tolist()),
            label=int((of_key[at] + noise[at]).argmax()),
            key=f"i{key[at]}",
            time=at / each * DAY,
            time_text=f"{at / each * DAY:.6f}",
            more=(f"r{region[at]}", f"m{model[at]}"),
        )
        for at, row in enumerate(drawn_rows)
    ]


def judged(rows, claim=CLAIM):
    """The result on the labels."""
    evidence = LogEvidence(claim, 0)
    for chunk in chunks(rows, 1500):
        evidence.observe(chunk)
    results = log_results(evidence, Costs(claim))
    return next(r for r in results if r.id == "class-probabilities")


def without_noise(rows, lacks):
    """The rows, where the plurality is released where `lacks(place, row)`."""
    return [
        row._replace(label=int(np.argmax(row.histogram))) if lacks(at, row) else row
        for at, row in enumerate(rows)
    ]


def thinned(lacks, share):
    """Where `lacks`, in a share of the rows."""
    chance = np.random.default_rng(5).random(ROWS)
    return lambda at, row: chance[at] < share and lacks(at, row)


def day(row):
    """Of the week, from Monday."""
    return (int(row.time // DAY) + 3) % 7


FAULTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "three inputs": (lambda at, row: row.key in {"i5", "i20", "i40"}, {"parts": 3}),
    "one input": (lambda at, row: row.key == "i15", {"input": "i15", "parts": 1}),
    "three tenths of four inputs": (
        thinned(lambda at, row: row.key in {"i0", "i5", "i10", "i15"}, 0.8),
        {"groups": 60},
    ),
    "a weekday": (lambda at, row: day(row) == 1, {"weekday": "Tuesday"}),
    "two fifths of a weekday": (thinned(lambda at, row: day(row) == 6, 0.4), {"weekday": "Sunday"}),
    "a region": (lambda at, row: row.more[0] == "r2", {"column": "region", "value": "r2"}),
    "a model": (lambda at, row: row.more[1] == "m7", {"column": "model", "value": "m7"}),
    "half of a model": (
        thinned(lambda at, row: row.more[1] == "m7", 0.5),
        {"column": "model", "value": "m7"},
    ),
    "one row of 40": (lambda at, row: at % 40 == 7, {"first_row": 8, "every": 40}),
    "one row of 37": (lambda at, row: at % 37 == 0, {"first_row": 1, "every": 37}),
    "one row of 64": (lambda at, row: at % 64 == 63, {"first_row": 64, "every": 64}),
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.quick_cases(1)
def test_a_part_without_noise_is_found_and_named(name):
    """Catches a kind of part that is not wagered on, or told as another."""
    lacks, fields = FAULTS[name]
    result = judged(without_noise(asked(), lacks))
    assert (result.verdict, result.code) == ("fail", "noise-missing-in-part")
    assert fields.items() <= result.fields.items()


@pytest.mark.slow("over half a second")
def test_the_share_of_a_part_is_told_with_its_interval():
    """Half of a model's rows: catches ends that leave out the truth, or say nothing."""
    fields = judged(without_noise(asked(), FAULTS["half of a model"][0])).fields
    assert 0.0 < fields["share_low"] <= 0.5 <= fields["share_high"] <= 1.0
    assert fields["confidence"] == 0.99


TURNED = [(20, 15, 5, 0), (0, 20, 15, 5), (5, 0, 20, 15), (15, 5, 0, 20)]
"""No class leads more often than others, whom more votes for it would explain as well."""


@pytest.mark.slow("three logs")
@pytest.mark.parametrize(("first", "last"), [(3000, 3600), (ROWS - 600, ROWS), (0, 600)])
def test_a_window_says_where_it_begins_and_ends(first, last):
    """Half of its rows lack noise. Catches a window told as all rows, or as another fault."""
    rows = asked(histograms=TURNED)
    result = judged(without_noise(rows, thinned(lambda at, row: first <= at < last, 0.5)))
    assert (result.verdict, result.code) == ("fail", "noise-missing-in-part")
    assert abs(result.fields["from_row"] - 1 - first) < 60
    assert abs(result.fields["to_row"] - last) < 60


@pytest.mark.slow("three logs")
@pytest.mark.parametrize(
    "lacks", [lambda at, row: at < 100, lambda at, row: at >= ROWS - 100, FAULTS["a region"][0]]
)
def test_what_was_found_before_still_is(lacks):
    assert judged(without_noise(asked(), lacks)).verdict == "fail"


def easier(rows, here):
    """The rows, of clear histograms where `here(row)`."""
    rng = np.random.default_rng(3)
    found = []
    for row in rows:
        votes = CLEAR[rng.integers(len(CLEAR))] if here(row) else row.histogram
        label = int((np.array(votes) + rng.normal(0.0, 10.0, 4)).argmax())
        found.append(row._replace(histogram=votes, label=label))
    return found


@pytest.mark.parametrize(
    "rows",
    [
        asked,
        lambda: asked(histograms=CLEAR),
        lambda: easier(asked(), lambda row: 3 <= row.time / 3600.0 % 24 < 4),
        lambda: easier(asked(), lambda row: day(row) == 5),
        lambda: easier(asked(), lambda row: row.more[1] == "m3"),
    ],
    ids=["as claimed", "all clear", "a clear hour", "a clear weekday", "a clear model"],
)
@pytest.mark.quick_cases(1)
def test_a_correct_log_of_easy_rows_is_not_accused(rows):
    """Catches consensus that is taken for missing noise."""
    assert judged(rows()).verdict != "fail"


def bare_ratios(histograms):
    """Claimed probabilities (b, o), and log-ratios (b, o) of missing noise."""
    alternatives = Alternatives(CLAIM.mechanism, 0.2, answered=False)
    log_q, _, ratios = alternatives.laws(np.array(histograms, dtype=np.float64))
    return np.exp(log_q), ratios[:, alternatives.bare]


def wagered(rows, ratios, size):
    """Log-e-values by kind (n,), rows added `size` at a time."""
    strata, found = AllStrata(["region", "model"]), []
    for start in range(0, len(rows), size):
        here = rows[start : start + size]
        numbers = np.arange(start + 1, start + len(here) + 1)
        gains = np.zeros((len(here), POWERS.size))
        found.append(strata.observe(here, numbers, ratios[start : start + size], gains))
    return {kind: np.concatenate([one[kind] for one in found]) for kind in WEIGHTS}


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("stops", [False, True])
def test_each_wager_is_worth_one_under_the_claim(stops):
    """Enumerated over all labels of five rows, also when they end at the first gain.

    Catches a product over strata whose weights do not sum to 1, or a row placed after its label.
    """
    rows = [
        row._replace(key=key, time=at * DAY * 4, more=(key, None))
        for at, (row, key) in enumerate(zip(asked(5), "abaca", strict=True))
    ]
    q, ratios = bare_ratios([row.histogram for row in rows])
    total = dict.fromkeys(WEIGHTS, 0.0)
    for labels in itertools.product(range(4), repeat=5):
        chance = math.prod(q[at, y] for at, y in enumerate(labels))
        for kind, values in wagered(rows, ratios[np.arange(5), labels], 2).items():
            gained = np.flatnonzero(values > 1e-3) if stops else np.zeros(0, dtype=int)
            total[kind] += chance * math.exp(values[gained[0] if gained.size else -1])
    assert total == pytest.approx(dict.fromkeys(WEIGHTS, 1.0), abs=1e-9)


@pytest.mark.parametrize(
    "logs", [60, pytest.param(2000, marks=pytest.mark.slow("two thousand logs"))]
)
def test_correct_logs_are_not_accused(logs):
    """The mean e-value is at most 1 within four of its errors; none reaches a million.

    Of logs with rows of clear histograms on one weekday and in one region; a correct wager fails
    the first with probability below 1e-4 in each kind, and the second with 1e-6 times `logs`.
    """
    rows = easier(asked(300), lambda row: day(row) == 5 or row.more[0] == "r1")
    q, ratios = bare_ratios([row.histogram for row in rows])
    rng, values = np.random.default_rng(11), {kind: np.zeros(logs) for kind in WEIGHTS}
    for log in range(logs):
        labels = (q.cumsum(1) < rng.random((len(rows), 1))).sum(1).clip(max=3)
        for kind, found in wagered(rows, ratios[np.arange(len(rows)), labels], 300).items():
            values[kind][log] = math.exp(found[-1])
            assert found.max() < math.log(1e6)
    for each in values.values():
        assert each.mean() <= 1.0 + 4.0 * each.std() / math.sqrt(logs)


def test_chunks_make_no_difference():
    """Catches a stratum that begins anew with the next rows."""
    rows = asked(400)
    _, ratios = bare_ratios([row.histogram for row in rows])
    taken = ratios[np.arange(400), [row.label for row in rows]]
    whole, parts = wagered(rows, taken, 400), wagered(rows, taken, 37)
    assert all(whole[kind] == pytest.approx(parts[kind], abs=1e-9) for kind in WEIGHTS)


@pytest.mark.slow("over half a second")
def test_a_pass_says_which_parts_would_have_shown():
    """Catches a pass that speaks of parts that it did not look at, or could not see."""
    found = {one.size.get("of"): one for one in judged(asked()).excludes}
    assert found["weekday"].size["groups"] == found["weekday"].size["seen"] == 7
    assert found["column region"].size["groups"] == 6
    assert 0 < found["input"].size["seen"] <= 60
    every = next(one.size["every"] for one in judged(asked()).excludes if "every" in one.size)
    assert 2 <= every <= 64  # beyond that, not each is looked at


@pytest.mark.slow("several logs")
def test_parts_that_a_pass_excludes_do_show():
    rows = asked()
    passed = judged(rows)
    entries = {one.size.get("of"): one for one in passed.excludes}
    every = next(one.size["every"] for one in passed.excludes if "every" in one.size)
    lacking = [
        lambda at, row: row.key == entries["input"].where[0],
        lambda at, row: row.more[1] == entries["column model"].where[-1],
        lambda at, row: at % every == every - 1,
    ]
    assert all(judged(without_noise(rows, lacks)).verdict == "fail" for lacks in lacking)


def test_a_monitor_goes_on_with_its_strata():
    """Catches a state that forgets them: their evidence would begin anew with every start."""
    rows = without_noise(asked(2000), FAULTS["three inputs"][0])
    whole, before, after = (LogEvidence(CLAIM, 0, endless=True) for _ in range(3))
    for part in (whole, before):
        part.observe(rows[:1000])
    restore(after, bytes_of(before))
    for part in (whole, after):
        part.observe(rows[1000:])
    assert after.highest == whole.highest
    assert bytes_of(after.strata) == bytes_of(whole.strata)


HEADER = "c0,c1,c2,c3,label,Region,model\n"


def report(tmp_path, text, claim=CLAIM):
    path = tmp_path / "log"
    path.write_text(text)
    return verify_log(str(path), claim, 0, lambda _: None)


@pytest.mark.slow("two logs")
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_columns_are_read_by_the_names_that_the_claim_gives(tmp_path, form):
    """Catches a column that is taken for one of votes, or not read."""
    rows = without_noise(asked(), FAULTS["a model"][0])
    lines = [
        f"{','.join(map(str, row.histogram))},{row.label},{row.more[0]},{row.more[1]}\n"
        if form == "csv"
        else f'{{"histogram": {list(row.histogram)}, "label": {row.label}, "other": 1, '
        f'"region": "{row.more[0]}", "Model": "{row.more[1]}"}}\n'
        for row in rows
    ]
    found = report(tmp_path, (HEADER if form == "csv" else "") + "".join(lines))
    told = next(one for one in found.checks if one.id == "class-probabilities")
    assert (told.fields["column"], told.fields["value"]) == ("model", "m7")


@pytest.mark.parametrize(
    "text",
    [
        "c0,c1,c2,c3,label,model\n20,15,5,0,0,m\n",
        '{"histogram": [20, 15, 5, 0], "label": 0, "region": "r"}\n',
    ],
)
def test_a_column_that_is_not_there_is_refused(tmp_path, text):
    with pytest.raises(ColumnsError, match=r"log\.columns"):
        report(tmp_path, text)


@pytest.mark.parametrize("columns", [["label"], ["time"], ["a", "A"], ["histogram"]])
def test_a_column_that_has_a_meaning_of_its_own_is_refused(columns):
    """A label's own stratum is chosen by the label: a correct log would be accused by it."""
    with pytest.raises(Exception, match="columns"):
        small_claim(log={"columns": columns})
