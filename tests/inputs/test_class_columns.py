"""Which class a column is: honoured where the names say it, refused where they may."""

import pytest

from dpassay.verifiers.inputs.class_columns import class_order
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
