"""Which class a column is: honoured where the names say it, refused where they may."""

import pytest

from dpassay.verifiers.inputs.csv_rows import class_order
from dpassay.verifiers.inputs.histogram_file import read_histograms
from dpassay.verifiers.inputs.input_error import ColumnsError
from dpassay.verifiers.inputs.input_file import read_inputs
from dpassay.verifiers.inputs.release_log import RowReader


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (["2", "0", "1"], [1, 2, 0]),
        (["class_2", "class_1", "class_0"], [2, 1, 0]),
        (["n(1)", "n(0)"], [1, 0]),
        (["1", "2", "3"], [0, 1, 2]),  # numbered from 1, in turn
        (["zebra", "ant"], [0, 1]),  # words say nothing
        (["a", "b"], [0, 1]),
        (["q2", "r1"], [0, 1]),
        ([], []),
    ],
)
def test_names_that_say_which_class_they_are(names, order) -> None:
    assert class_order(names, "line 1") == order


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["3", "1", "2"], "numbered 3, 1, 2, ...: expected 0 to 2"),
        (["b", "a"], "b, a are not in alphabetical order"),
        (["x", ""], "column 2 has no name"),
        (["x", "x"], "more than one column named x"),
    ],
)
def test_other_orders_are_refused(names, said) -> None:
    with pytest.raises(ValueError, match="column") as error:
        class_order(names, "line 1")
    assert said in str(error.value)


FRAMES = [
    ",c0,c1,c2,label\n0,2,20,10,1\n",  # the index of a frame, as pandas writes it
    "Unnamed: 0,c0,c1,c2,label\n0,2,20,10,1\n",
    "c0,c1,c2,label\n2.0,20.,10.00,1.0\n",  # a column once lacked a value
    "run,c0,c1,c2,score9,label\n7,2,20,10,8,1\n",  # these alone are numbered as the classes are
]


@pytest.mark.parametrize("text", FRAMES)
def test_what_a_frame_adds_is_no_vote(text) -> None:
    """Catches an index that is read as votes, and floats that end a log."""
    reader = RowReader(3, may_refuse=False)
    head, line = text.splitlines(keepends=True)
    assert reader.row(head, "1") is None
    row = reader.row(line, "2")
    assert (row.histogram, row.label) == ((2, 20, 10), 1)


@pytest.mark.parametrize(
    "table",
    [
        {"c1": 20, "c0": 2, "c2": 10.0, "Label": 1.0},
        {"c0": "2", "c1": "20", "c2": "10", "label": "1", "__index_level_0__": 0},
        {"Label": 1, "histogram": [2.0, 20.0, 10.0], "": 5},
    ],
)
def test_a_row_with_a_key_for_each_class_is_that_of_a_list(table) -> None:
    """The same columns were read of CSV alone."""
    row = RowReader(3, may_refuse=False).of_table(table, "row 1")
    assert (row.histogram, row.label) == ((2, 20, 10), 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b,c,epoch,label\n", "4 columns of votes: expected 3, .* found a, b, c, epoch;"),
        ("a,b,label\n", "2 columns of votes: expected 3, .* found a, b;"),
        ("a;b;c;label\n", "with commas between them; found semicolons, 'a;b;c;label'"),
        ('[{"label": 1}]', "JSON objects, one a line, .* found a JSON array, "),
        ('{"votes": [1, 2], "answer": 1}', "no label: allowed are .*; found votes, answer"),
    ],
)
def test_columns_that_are_not_the_classes_are_named(text, said) -> None:
    with pytest.raises(ValueError, match=said):
        RowReader(3, may_refuse=False).row(text, "line 1")


def test_histograms_without_the_index_of_their_frame(tmp_path) -> None:
    """Read where its rows are numbered; another column without a name is refused."""
    path = tmp_path / "a.csv"
    path.write_text(",a,b\n0,3,5\n1,4.0,4\n")
    assert [row.histogram for row in read_histograms(str(path))] == [(3, 5), (4, 4)]
    path.write_text(",a,b\n3,3,5\n1,4,4\n")
    with pytest.raises(ColumnsError, match="column 1 has no name"):
        read_histograms(str(path))


def test_a_log_and_its_inputs_are_read_by_class(tmp_path) -> None:
    """Catches votes that are taken in the order of their columns."""
    reader = RowReader(3, may_refuse=False)
    assert reader.row("label,c2,c0,c1\n", "1") is None
    row = reader.row("1,2,20,10\n", "2")
    assert row is not None
    assert (row.histogram, row.label) == ((20, 10, 2), 1)
    with pytest.raises(ColumnsError, match=r"1: .*c, b, a"):
        RowReader(3, may_refuse=False).row("c,b,a,label\n", "line 1")
    (tmp_path / "a.csv").write_text("c1,c0,label\n3,5,0\n")
    assert read_histograms(str(tmp_path / "a.csv"))[0].histogram == (5, 3)
    (tmp_path / "b.csv").write_text("c1,id,c0\n3,x,5\n")
    (asked,) = read_inputs(str(tmp_path / "b.csv"), 2, 8, need_queries=False)
    assert asked.histogram == (5, 3)
