"""A recorded log judged: what is found, what is said, and what a log cannot tell."""

import numpy as np
import pytest
from drawn_rows import HISTOGRAMS, drawn
from small import small_claim

from dpassay.verifiers.inputs.release_log import LogError, Row
from dpassay.verifiers.kinds.labels.logs.costs import Costs
from dpassay.verifiers.kinds.labels.logs.findings import log_results
from dpassay.verifiers.kinds.labels.logs.judge import LogEvidence, chunks
from dpassay.verifiers.kinds.labels.logs.saved import bytes_of, restore


def judged(rows, claim=None, size=500):
    """Results by check id, and the evidence."""
    claim = claim or small_claim()
    evidence, costs = LogEvidence(claim, 0), Costs(claim)
    for chunk in chunks(costs.count(rows), size):
        evidence.observe(chunk)
    return {result.id: result for result in log_results(evidence, costs)}, evidence


def test_a_sound_log_passes_and_says_what_it_would_show():
    found, _ = judged(drawn(6000, 1))
    assert {r.verdict for r in found.values()} == {"pass", "not-applicable"}
    assert found["class-probabilities"].code is found["noise-scale"].code is None
    assert found["order"].code == "nothing-asked"


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("scale", "code"),
    [(0.5, "scale-too-small"), (2.0, "scale-too-large"), (1e-9, "noise-missing")],
)
def test_wrong_noise_is_named(scale, code):
    found, _ = judged(drawn(3000, 2, scale))
    assert found["class-probabilities"].verdict == "fail"
    assert found["class-probabilities"].code == code
    assert code == "noise-missing" or found["class-probabilities"].fields["factor"] == scale
    assert found["noise-scale"].code in (code, "scale-too-small")


@pytest.mark.slow("over half a second")
def test_noise_that_changes_midway_is_dated():
    """Catches evidence that sound rows drown, and an onset that is off."""
    found, evidence = judged(drawn(8000, 3) + drawn(1500, 4, 0.5))
    assert found["class-probabilities"].verdict == "fail"
    told = found["class-probabilities"]
    assert (told.code, told.fields["factor"]) == ("scale-too-small", 0.5)
    assert abs(told.fields["from_row"] - 8001) < 100
    assert abs(int(evidence.pointed.onsets[evidence.best]) - 8000) < 100
    assert 8000 < evidence.found_after["class-probabilities"] < 8600


def test_kept_answers_are_found():
    """A deployment that claims fresh noise and looks answers up."""
    kept: dict[tuple[int, ...], int] = {}
    rng = np.random.default_rng(5)
    many = [tuple(int(v) for v in rng.multinomial(40, [0.4, 0.3, 0.2, 0.1])) for _ in range(40)]
    rows = [
        row._replace(label=kept.setdefault(row.histogram, row.label))
        for row in drawn(2000, 6, histograms=many)
    ]
    found, _ = judged(rows)
    assert found["fresh-noise"].verdict == "fail"
    assert found["fresh-noise"].code == "labels-copied"
    fields = found["fresh-noise"].fields
    assert (fields["share"], fields["of"]) == (0.9, "histogram")


def test_a_worker_that_repeats_its_label_is_found():
    rows, last = [], {}
    for number, row in enumerate(drawn(4000, 7)):
        worker = str(number % 4)
        label = last.get(worker, row.label) if number % 3 == 0 else row.label
        last[worker] = label
        rows.append(row._replace(worker=worker, label=label))
    found, _ = judged(rows)
    assert found["fresh-noise"].verdict == "fail"
    assert found["fresh-noise"].code == "labels-copied"
    assert found["fresh-noise"].fields["of"] == "worker"


def test_few_rows_are_inconclusive_and_say_how_many_more():
    found, _ = judged(drawn(12, 8))
    assert found["class-probabilities"].verdict == "inconclusive"
    assert found["class-probabilities"].code == "too-few-rows"
    assert found["class-probabilities"].fields["more"] > 12


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("scale", [0.5, pytest.param(2.0, marks=pytest.mark.slow("another scale"))])
def test_what_a_pass_says_it_would_show_shows(scale):
    """Power: of 20 logs at 0.99, five or more are missed with probability 1.4e-6."""
    found, _ = judged(drawn(1500, 9))
    assert found["class-probabilities"].verdict == "pass"
    broken = [judged(drawn(1500, 100 + i, scale))[1] for i in range(20)]
    missed = sum(not e.refuted("class-probabilities") for e in broken)
    assert missed < 5


@pytest.mark.slow("over half a second")
def test_a_log_sorted_by_its_labels_is_refuted():
    """5,000 correct labels: the null needs rows in the order of their draws, as the report says."""
    rows = sorted(drawn(5000, 10), key=lambda row: row.label)
    _, evidence = judged(rows)
    assert evidence.refuted("class-probabilities")


@pytest.mark.slow("over half a second")
def test_rows_that_were_left_out_by_their_labels_are_told():
    """A third of the labels other than the plurality's is gone; the others are all there."""
    rng = np.random.default_rng(4)
    kept = [
        row
        for row in drawn(20_000, 5)
        if row.label == int(np.argmax(row.histogram)) or rng.random() > 0.3
    ]
    found, _ = judged(kept)
    told = found["class-probabilities"]
    assert (told.code, told.fields["share"]) == ("other-labels-missing", 0.3)


def test_a_log_in_which_nothing_comes_twice_cannot_show_kept_answers():
    votes = [(40 - i, i - j, j, 0) for i in range(1, 30) for j in range(0, i, 3)]
    found, _ = judged([drawn(1, at, histograms=[each])[0] for at, each in enumerate(votes)])
    assert found["fresh-noise"].verdict == "not-applicable"
    assert (found["fresh-noise"].code, found["fresh-noise"].fields["rows"]) == (
        "no-input-repeated",
        0,
    )


@pytest.mark.slow("over half a second")
def test_chunks_change_nothing():
    """A log that is followed gives what the same log gives at once."""
    rows = drawn(1500, 11) + drawn(1500, 12, 0.5)
    _, one = judged(rows, size=len(rows))
    _, many = judged(rows, size=7)
    for name, value in one.highest.items():
        assert many.highest[name] == pytest.approx(value, abs=1e-9)
    assert many.found_after["class-probabilities"] == one.found_after["class-probabilities"]


@pytest.mark.slow("over half a second")
def test_refusals_are_judged_and_may_be_left_out_where_the_claim_says_so():
    rng = np.random.default_rng(13)
    claim = small_claim("confident-gnmax")
    votes = np.array(HISTOGRAMS)[rng.integers(0, len(HISTOGRAMS), 6000)]
    labels = claim.mechanism.mechanism()
    rows = [Row(tuple(h.tolist()), int(labels.sample(h, 1, rng)[0])) for h in votes]
    assert judged(rows, claim)[0]["class-probabilities"].verdict == "pass"
    answered = [row for row in rows if row.label >= 0]
    assert judged(answered, claim)[0]["class-probabilities"].verdict == "fail"
    left_out = small_claim("confident-gnmax", log={"refusals": "left-out"})
    with pytest.raises(LogError, match="label -1: expected 0 to 3"):
        left_out.log_reader().of_table({"histogram": [20, 15, 5, 0], "label": -1}, "row 1")
    found, _ = judged(answered, left_out)
    assert found["class-probabilities"].verdict == "pass"
    assert found["abstention"].code == "refusals-left-out"


def test_a_caching_log_keeps_its_answers():
    claim = small_claim()
    caching = claim.model_copy(
        update={"mechanism": claim.mechanism.model_copy(update={"caching": True})}
    )
    rows = [Row((20, 15, 5, 0), 1), Row((10, 10, 10, 10), 2), Row((20, 15, 5, 0), 1)]
    assert judged(rows, caching)[0]["fresh-noise"].verdict == "pass"
    rows.append(Row((10, 10, 10, 10), 0))
    found, _ = judged(rows, caching)
    assert found["fresh-noise"].verdict == "fail"
    assert found["fresh-noise"].code == "answers-drawn-anew"
    assert found["fresh-noise"].fields["row"] == 4


def test_two_inputs_with_equal_votes_may_have_two_kept_answers():
    """Kept by input or by histogram: either is correct. Catches the first accused of the second."""
    claim = small_claim()
    caching = claim.model_copy(
        update={"mechanism": claim.mechanism.model_copy(update={"caching": True})}
    )
    rows = [Row((20, 15, 5, 0), 1, "x"), Row((20, 15, 5, 0), 0, "y"), Row((20, 15, 5, 0), 1, "x")]
    found, evidence = judged(rows, caching)
    assert found["fresh-noise"].verdict == "pass"
    assert evidence.rows == 1  # another's answer may be a lookup, and is no evidence
    found, _ = judged([*rows, Row((20, 15, 5, 0), 2, "y")], caching)
    assert found["fresh-noise"].code == "answers-drawn-anew"
    assert found["fresh-noise"].fields["row"] == 4


def test_answers_kept_by_id_are_draws_once_that_shows():
    """Catches half the noise of all but the first id of a histogram; the right noise passes.

    On five histograms half the noise gains .057 nats a row: 86 of 1,500, with a standard deviation
    of 8, where some 20 refute. The right noise is accused with probability 1e-6 at most.
    """
    claim = small_claim()
    caching = claim.model_copy(
        update={"mechanism": claim.mechanism.model_copy(update={"caching": True})}
    )
    for scale, verdict in ((0.5, "fail"), (1.0, "pass")):
        rows = [row._replace(key=str(at)) for at, row in enumerate(drawn(1500, 3, scale))]
        found, evidence = judged(rows, caching)
        assert found["class-probabilities"].verdict == verdict
        assert evidence.rows > 1400
        assert evidence.by_input


def noise_of(rows, how, seed):
    """Rows whose noise comes as `how(row, rng, earlier noises)` says, with worker, client, call."""
    rng = np.random.default_rng(seed)
    found, noises = [], []
    for i in range(rows):
        votes = HISTOGRAMS[rng.integers(0, len(HISTOGRAMS))]
        worker, client, call = str(rng.integers(0, 4)), f"c{rng.integers(0, 20)}", str(i // 5)
        row = Row(votes, 0, worker=worker, client=client, call=call)
        noises.append(how(i, row, rng, noises))
        found.append(row._replace(label=int((np.array(votes) + noises[-1]).argmax())))
    return found


def from_seed(part):
    """Each worker, client or call draws from a generator of one seed."""
    generators: dict[str, np.random.Generator] = {}

    def how(i, row, rng, noises):
        own = generators.setdefault(getattr(row, part), np.random.default_rng(7))
        return own.normal(0.0, 10.0, 4)

    return how


def two_workers():
    both = from_seed("worker")
    fresh = lambda rng: rng.normal(0.0, 10.0, 4)  # noqa: E731
    return lambda i, row, rng, n: both(i, row, rng, n) if row.worker in "13" else fresh(rng)


def lagging(lag):
    def how(i, row, rng, noises):
        return noises[i - lag] if i >= lag and rng.random() < 0.7 else rng.normal(0.0, 10.0, 4)

    return how


@pytest.mark.parametrize(
    ("how", "code", "fields"),
    [
        (from_seed("worker"), "noise-shared-by-parties", {"parties": "worker"}),
        (two_workers(), "noise-shared-by-parties", {"first": "1", "second": "3"}),
        (from_seed("client"), "noise-shared-by-parties", {"parties": "client"}),
        (lagging(2), "noise-reused", {"rows_before": 2}),
        (lagging(16), "noise-reused", {"rows_before": 16}),
    ],
)
@pytest.mark.quick_cases(2)
def test_noise_that_serves_several_rows_is_found(how, code, fields):
    found, _ = judged(noise_of(3000, how, 21))
    assert found["fresh-noise"].verdict == "fail"
    assert found["fresh-noise"].code == code
    assert fields.items() <= found["fresh-noise"].fields.items()


@pytest.mark.slow("over half a second")
def test_what_was_saved_goes_on_to_the_last_bit():
    """With workers, clients and calls. Catches state that is left out, or shared with the new."""
    rows = noise_of(1200, from_seed("worker"), 23)
    whole, early, late = (LogEvidence(small_claim(), 0) for _ in range(3))
    for evidence, part in ((whole, rows[:700]), (whole, rows[700:]), (early, rows[:700])):
        evidence.observe(part)
    restore(late, bytes_of(early))
    late.last.update(early.last)
    late.observe(rows[700:])
    assert late.highest == whole.highest
    assert bytes_of(late) == bytes_of(whole)


def test_names_in_a_log_are_no_part_of_the_form_of_its_state():
    """Catches a worker whose name is taken for the mark of an array, or of a table."""
    rows = [row._replace(worker=("array", "dict")[at % 2]) for at, row in enumerate(drawn(60, 25))]
    before, after = LogEvidence(small_claim(), 0), LogEvidence(small_claim(), 1)
    before.observe(rows)
    restore(after, bytes_of(before))
    assert [*after.parties[0].evidence] == ["array", "dict"]
    assert after.sides[0].seen == {"array": 30, "dict": 30}
    assert bytes_of(after) == bytes_of(before)


@pytest.mark.slow("over half a second")
def test_one_client_without_noise_is_named():
    """One of twenty: all rows together would take many thousands."""
    bare = lambda i, row, rng, n: rng.normal(0.0, 10.0, 4) * (row.client != "c17")  # noqa: E731
    found, _ = judged(noise_of(4000, bare, 22))
    assert found["class-probabilities"].verdict == "fail"
    assert found["class-probabilities"].code == "noise-missing"
    assert found["class-probabilities"].fields["client"] == "c17"


def test_refusals_that_were_left_out_unsaid_are_named():
    rng = np.random.default_rng(13)
    claim = small_claim("confident-gnmax")
    votes = np.array(HISTOGRAMS)[rng.integers(0, len(HISTOGRAMS), 3000)]
    labels = claim.mechanism.mechanism()
    rows = [Row(tuple(h.tolist()), int(labels.sample(h, 1, rng)[0])) for h in votes]
    found, _ = judged([row for row in rows if row.label >= 0], claim)
    assert found["class-probabilities"].fields["refusals"] == 0


@pytest.mark.slow("statistics of many logs; others show that sound logs pass")
def test_sound_logs_seldom_fail():
    """At 0.05 on each of 400 logs: 45 failures have probability below 1e-6 if 20 are expected."""
    claim = small_claim(gate={"false_alarm": 0.05})
    failed = sum(
        any(r.verdict == "fail" for r in judged(drawn(2000, 1000 + i), claim)[0].values())
        for i in range(400)
    )
    assert failed < 45
