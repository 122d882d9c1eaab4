"""`dpassay account`: what it reads, charges and refuses."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from charged import CONFIDENT, GNMAX, HEADER, ROW, charged, run
from hypothesis import given
from hypothesis import strategies as st

from dpassay.reference import ConfidentGNMax, Exponential, Gaussian, Gumbel, Laplace, NoisyArgmax
from dpassay.reference.accounting.analyses import ANALYSES, query_cost
from dpassay.reference.accounting.conversions import best_epsilon
from dpassay.reference.accounting.neighbourhood import MOVED_VOTE
from dpassay.verifiers.commands.charged_rows import account_of
from dpassay.verifiers.commands.row_costs import RowCosts
from dpassay.verifiers.inputs.histogram_file import HistogramRow, read_histograms
from dpassay.verifiers.inputs.log_file import AskedRows, read_asked
from dpassay.verifiers.strategies import histograms

ORDERS = np.array([1.5, 2.0, 8.0, 40.0])
TOML_OF_10 = '[mechanism]\nname = "gnmax"\nnoise = "gaussian:40"\nclasses = 10\nteachers = 250\n'


def test_json_holds_what_the_contract_says(tmp_path) -> None:
    found = charged(ROW + "\n", *GNMAX, "--delta", "1e-5", "--repeat", "10", folder=tmp_path)
    assert set(found) == {
        *("epsilon", "delta", "order", "queries", "expected_answered", "analysis", "charging"),
        *("note", "repeats", "rows_beyond", "adjacency", "votes", "data_independent_epsilon"),
    }
    assert found["note"] is None  # nothing is refused, so every query is charged in full
    assert (found["analysis"], found["charging"]) == ("data-dependent", "expected")
    assert (found["queries"], found["delta"], found["expected_answered"]) == (10, 1e-5, 10.0)


def test_a_published_budget_is_met_from_the_shell(tmp_path) -> None:
    """Wang et al. 2022, MNIST sample 1, sigma 40: 2,541 queries cost at most 1.97.

    The orders are refined here, so that one more query may just fit.
    """
    found = charged(ROW, *CONFIDENT, "--delta", "1e-5", "--epsilon", "1.97", folder=tmp_path)
    assert found["queries"] in (2541, 2542)
    assert found["epsilon"] <= 1.97
    more = charged(
        *(ROW, *CONFIDENT, "--delta", "1e-5", "--repeat", str(found["queries"] + 1)),
        folder=tmp_path,
    )
    assert more["epsilon"] > 1.97 - 1e-4


def test_delta_is_that_of_the_claim_unless_given(tmp_path) -> None:
    """A claim without [privacy] has none, and says what is expected."""
    file = tmp_path / "claim.toml"
    file.write_text(TOML_OF_10)
    asked = ROW, "--claim", str(file)
    lacking = run(*asked, folder=tmp_path)
    assert (lacking.returncode, "--delta" in lacking.stderr) == (2, True)
    file.write_text(TOML_OF_10 + "[privacy]\nepsilon = 8.0\ndelta = 1e-6\nqueries = 10\n")
    assert charged(*asked, folder=tmp_path)["delta"] == 1e-6
    assert charged(*asked, "--delta", "1e-4", folder=tmp_path)["delta"] == 1e-4


def test_neighbours_are_those_of_the_option_or_of_the_claim(tmp_path) -> None:
    """A teacher more or less halves the cost; a record behind three teachers costs nine times."""
    file = tmp_path / "claim.toml"
    options = ["--delta", "1e-5", "--repeat", "10", "--analysis", "data-independent"]
    for adjacency, unit, share, votes in (
        ("replace-one", "", 1.0, 1),
        ("add-remove", "", 0.5, 1),
        ("replace-one", 'unit = "record"\nmax_teachers = 3\n', 9.0, 3),
    ):
        file.write_text(f"{TOML_OF_10}adjacency = '{adjacency}'\n{unit}")
        ways = [["--claim", str(file)]]
        ways += [[*GNMAX, "--adjacency", adjacency]] if votes == 1 else []
        for way in ways:
            found = charged(ROW, *way, *options, folder=tmp_path)
            assert (found["adjacency"], found["votes"]) == (adjacency, votes)
            assert found["epsilon"] == pytest.approx(epsilon_of(10 * share), rel=1e-6)
    told = run(ROW, "--claim", str(file), *options, folder=tmp_path)
    assert "replace-one" in told.stdout
    assert "by 3 votes" in told.stdout
    both = run(ROW, "--claim", str(file), "--adjacency", "add-remove", *options, folder=tmp_path)
    assert both.returncode == 2
    assert "--claim" in both.stderr
    assert "--adjacency" in both.stderr


def epsilon_of(answers):
    """The cost of data-independent answers of GNMax with sigma 40, on a fine grid."""
    return best_epsilon(lambda orders: answers * orders / 1600, 1e-5).epsilon


def test_a_budget_fits_rows_and_not_passes_alone(tmp_path) -> None:
    """Data-independent, where each answer costs the same, so that n of them can be counted."""
    options = [*GNMAX, "--delta", "1e-5", "--analysis", "data-independent"]
    others = [f"{k},{250 - k},0,0,0,0,0,0,0,0\n" for k in range(70)]
    text = ROW + "\n" + "".join(others[1:]) + ROW + "\n"  # 71 rows, the last one the first again
    budget = epsilon_of(200) + 1e-3
    assert epsilon_of(201) > budget
    found = charged(text, *options, "--epsilon", str(budget), folder=tmp_path)
    assert (found["repeats"], found["rows_beyond"], found["queries"]) == (2, 58, 142)
    assert found["epsilon"] == pytest.approx(epsilon_of(142))
    shown = run(text, *options, "--epsilon", str(budget), folder=tmp_path).stdout
    fits = f"142 queries: 2 passes over 71 rows fit epsilon {budget:g}, and the first 58 rows once"
    assert fits in shown
    whole = charged(text, *options, "--epsilon", str(epsilon_of(71) + 1e-3), folder=tmp_path)
    assert (whole["repeats"], whole["rows_beyond"]) == (1, 0)
    assert charged(text, *options, folder=tmp_path)["rows_beyond"] is None


def test_where_no_pass_fits_the_rows_that_do_are_told(tmp_path) -> None:
    options = [*GNMAX, "--delta", "1e-5", "--analysis", "data-independent"]
    budget = epsilon_of(30) + 1e-3
    found = charged(f"{ROW}\n" * 71, *options, "--epsilon", str(budget), folder=tmp_path)
    assert (found["queries"], found["repeats"], found["rows_beyond"]) == (0, 0, 30)
    assert (found["epsilon"], found["expected_answered"]) == (0.0, 0.0)
    shown = run(f"{ROW}\n" * 71, *options, "--epsilon", str(budget), folder=tmp_path).stdout
    told = re.search(r"0 queries: none .* 71 rows costs (\S+); .* 30 rows fit;", shown)
    assert float(told[1]) == pytest.approx(epsilon_of(71), abs=2e-4)  # on coarser orders
    done = run(f"{ROW}\n" * 2, *options, "--epsilon", "1e-3", folder=tmp_path)
    assert done.returncode == 0
    assert "the first row alone does not fit" in done.stdout
    assert "nothing was released" in done.stdout


def test_data_independent_gnmax_is_the_gaussian_mechanism(tmp_path) -> None:
    """n order / sigma^2, converted: the refined order is within rounding of any finer grid."""
    found = charged(
        *(ROW, *GNMAX, "--delta", "1e-5", "--repeat", "1000", "--analysis", "data-independent"),
        folder=tmp_path,
    )
    assert found["epsilon"] == pytest.approx(best_epsilon(lambda a: 1000 * a / 1600, 1e-5).epsilon)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("analysis", ["data-independent", "data-dependent", "exact", "worst-pair"])
def test_each_analysis_tells_the_data_independent_one_beside_it(tmp_path, analysis) -> None:
    """Catches a second figure that repeats the first, or leaves out the repeats."""
    options = [*GNMAX, "--delta", "1e-5", "--repeat", "1000", "--analysis", analysis]
    expected = best_epsilon(lambda a: 1000 * a / 1600, 1e-5).epsilon
    found = charged(ROW, *options, folder=tmp_path)
    assert found["data_independent_epsilon"] == pytest.approx(expected)
    assert (found["epsilon"] < 0.999 * expected) == (analysis != "data-independent")
    printed = run(ROW, *options, folder=tmp_path).stdout
    assert (f"data-independent: epsilon {expected:.4f}\n" in printed) == (
        analysis != "data-independent"
    )


def test_headers_labels_and_realised_charging(tmp_path) -> None:
    """A refused query costs its test alone, an answered one more."""
    options = [*CONFIDENT, "--delta", "1e-5", "--charging", "realised"]
    text = f"{HEADER},label\n{ROW},%d\n"
    once = charged(text % -1, *options, folder=tmp_path)
    assert once["expected_answered"] == 0
    refused = once["epsilon"]
    answered = charged(text % 7, *options, folder=tmp_path)["epsilon"]
    everything = charged(f"{HEADER}\n{ROW}\n", *options[:-1], "all", folder=tmp_path)["epsilon"]
    assert refused < answered == pytest.approx(everything)


def test_a_spreadsheet_s_byte_order_mark_is_no_vote(tmp_path) -> None:
    options = [*GNMAX, "--delta", "1e-5"]
    marked = charged(f"\ufeff{ROW}\n{ROW}\n", *options, folder=tmp_path)
    assert marked == charged(f"{ROW}\n{ROW}\n", *options, folder=tmp_path)


def test_rows_add_up(tmp_path) -> None:
    """Two different rows, asked in either order, cost the same and more than each."""
    other = "25,25,25,25,25,25,25,25,25,25"
    both = [
        charged(f"{a}\n{b}\n", *GNMAX, "--delta", "1e-5", folder=tmp_path)["epsilon"]
        for a, b in ((ROW, other), (other, ROW))
    ]
    assert both[0] == both[1]
    alone = [
        charged(r, *GNMAX, "--delta", "1e-5", folder=tmp_path)["epsilon"] for r in (ROW, other)
    ]
    assert both[0] > max(alone)


def test_people_are_told_what_a_figure_is_not(tmp_path) -> None:
    done = run(ROW, *CONFIDENT, "--delta", "1e-5", folder=tmp_path)
    assert done.stdout.startswith("epsilon ")
    assert "no guarantee" in done.stdout
    assert "not a guarantee" in done.stdout


@pytest.mark.parametrize("charging", ["expected", "realised", "all"])
def test_json_says_whether_the_charging_is_no_guarantee(charging) -> None:
    """Text and JSON agree: a note printed always, or never, fails one of the three."""
    mechanism = ConfidentGNMax(Gaussian(40.0), 200.0, Gaussian(150.0))
    found = account_of(
        AskedRows.of([HistogramRow((30, 214, 6), 1)]), mechanism, 1e-5, charging=charging
    )
    note, printed = found.note, found.as_text()
    assert ("not a guarantee" in printed) == (charging == "expected")
    assert (note is not None) == (charging == "expected")
    assert note is None or f"charging expected: {note}" in printed


def from_stdin(data, *arguments):
    command = [sys.executable, "-m", "dpassay.verifiers.cli", "account", "-", *arguments]
    return subprocess.run(command, input=data, capture_output=True, check=False)


@pytest.mark.slow("processes that load everything; others are")
def test_standard_input_is_read_as_a_file_is(tmp_path) -> None:
    """Figures equal those of a file; a file named '-' is not looked for; faults name the place."""
    text = f"{HEADER},label\r\n{ROW},-1\r\n{ROW},7\r\n"
    arguments = [*CONFIDENT, "--delta", "1e-5", "--charging", "realised", "--json"]
    piped = from_stdin(text.encode(), *arguments)
    assert json.loads(piped.stdout) == json.loads(run(text, *arguments, folder=tmp_path).stdout)
    for data, message in [
        (b"1,2\n1,x\n", b"standard input, line 2: 'x' is not a whole number of votes"),
        (b"", b"standard input: no histograms"),
        (b"\xff\xfe\x80", b"standard input: not UTF-8 text"),
    ]:
        done = from_stdin(data, *arguments)
        assert done.returncode == 2
        assert message in done.stderr
        assert done.stderr.count(b"\n") == 1


MECHANISMS = [
    *(NoisyArgmax(family(12.0)) for family in (Gaussian, Laplace, Gumbel, Exponential)),
    ConfidentGNMax(Gaussian(12.0), 30.0, Gaussian(15.0)),
]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
@given(histogram=histograms(4, 60))
def test_exact_is_below_every_bound_that_covers_both_directions(mechanism, histogram) -> None:
    """Also data-dependent below data-independent; all are charged, refusals included."""
    costs = {name: query_cost(histogram, mechanism, ORDERS, name) for name in ANALYSES}
    slack = 1 + 1e-9
    assert (costs["exact"] <= costs["data-independent"] * slack).all()
    assert (costs["data-dependent"] <= costs["data-independent"] * slack).all()
    assert (costs["worst-pair"] <= costs["data-independent"] * slack).all()


@given(histogram=histograms(4, 60), repeats=st.integers(1, 500))
def test_the_budget_is_used_to_the_last_query(histogram, repeats) -> None:
    """The cost of n queries, as a budget, fits n of them and no more."""
    rows = AskedRows(histogram[None], None)
    mechanism = NoisyArgmax(Gaussian(30.0))
    spent = account_of(rows, mechanism, 1e-6, repeat=repeats).epsilon
    fits = account_of(rows, mechanism, 1e-6, budget=spent * (1 + 1e-4)).queries
    assert fits == pytest.approx(repeats, rel=2e-3, abs=1)


@pytest.mark.parametrize(
    "text", ["3,4\n5,6", "a,label,b\n3,-1,4\n\n5,1,6\n", "\ufeff3,4\r\n5,6\r\n", "1,0\n0,1\n"]
)
def test_rows_of_digits_are_read_at_once_and_alike(tmp_path, text) -> None:
    """Compared with reading cell by cell: catches a label among the votes, and a header asked."""
    path = tmp_path / "histograms.csv"
    path.write_text(text, newline="")
    found = read_asked(str(path))
    wanted = AskedRows.of(read_histograms(str(path)))
    np.testing.assert_array_equal(found.histograms, wanted.histograms)
    assert (found.labels is None) == (wanted.labels is None)
    np.testing.assert_array_equal(found.refused, wanted.refused)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
@pytest.mark.parametrize("analysis", ANALYSES)
@pytest.mark.parametrize("charging", ["expected", "realised", "all"])
def test_rows_cost_what_each_costs_alone(mechanism, analysis, charging) -> None:
    """By kinds, whatever the order of the votes: catches rows that are taken for others' kind."""
    votes = np.array([[30, 20, 10, 0], [0, 10, 20, 30], [30, 15, 15, 0], [60, 0, 0, 0]])
    labels = np.array([0, 3, 1, 0])
    if isinstance(mechanism, ConfidentGNMax):
        labels[1] = -1
    found = RowCosts(
        AskedRows(votes, labels),
        mechanism,
        analysis,
        charging,
        neighbourhood=MOVED_VOTE,
        executor=None,
    ).total(ORDERS)
    each = [
        query_cost(row, mechanism, ORDERS, analysis, charging=charging, refused=label == -1)
        for row, label in zip(votes, labels, strict=True)
    ]
    np.testing.assert_allclose(found, np.sum(each, axis=0), rtol=1e-12)


@pytest.mark.parametrize("analysis", ["data-independent", "data-dependent"])
def test_pure_mechanisms_cost_no_more_than_their_pure_bound(tmp_path, analysis) -> None:
    """At scale 0.05 an answer costs 40 at delta 0; the conversion alone said 40.0002.

    Twice as many fit twice the budget, which the conversion would not allow.
    """
    options = ["--mechanism", "lnmax", "--noise", "laplace:0.05", "--analysis", analysis]
    found = charged("50,50\n", *options, "--delta", "1e-5", folder=tmp_path)
    assert (found["epsilon"], found["order"]) == (40.0, None)
    shown = run("50,50\n", *options, "--delta", "1e-5", folder=tmp_path).stdout
    assert "(pure privacy" in shown
    fits = charged("50,50\n", *options, "--delta", "1e-5", "--epsilon", "80", folder=tmp_path)
    assert fits["queries"] == 2
