"""LCOV as five tools write it, and what is told of it: lines and branches that nothing took.

Catches functions that never ran told line by line, branches told where only lines are known,
exceptions taken for branches, and a file that is read although it is cut off.
"""

from pathlib import Path

import pytest

from dpassay.verifiers.inputs.input_error import RowsError
from dpassay.verifiers.inputs.lcov import read_lcov, unrun_places

C8 = """TN:
SF:src/server.js
FN:3,aggregate
FN:20,unused
FNF:2
FNH:1
FNDA:7,aggregate
FNDA:0,unused
DA:3,7
DA:4,7
DA:5,0
DA:20,0
DA:21,0
LF:5
LH:2
BRDA:3,0,0,7
BRDA:4,1,0,7
BRDA:5,2,0,0
BRDA:20,3,0,0
BRF:4
BRH:2
end_of_record
"""

COVERAGE_PY = """SF:aggregator.py
DA:1,1
DA:4,1
DA:5,9
DA:6,0
DA:8,9
LF:5
LH:4
FN:4,8,aggregate
FNDA:1,aggregate
FNF:1
FNH:1
BRDA:5,0,jump to line 6,0
BRDA:5,0,jump to line 8,9
BRF:2
BRH:1
end_of_record
"""

GCOV2LCOV = """TN:
SF:server.go
DA:10,5
DA:11,5
DA:41,0
DA:42,0
DA:44,0
DA:50,5
DA:60,0
LF:7
LH:3
end_of_record
"""

LLVM = """SF:/src/lib.rs
FN:10,_RNv_generic_one
FN:10,_RNv_generic_two
FN:30,_RNv_never
FNDA:0,_RNv_generic_one
FNDA:4,_RNv_generic_two
FNDA:0,_RNv_never
FNF:3
FNH:1
DA:10,4
DA:11,0
DA:12,4
DA:30,0
DA:31,0
DA:33,4
DA:34,0
BRF:0
BRH:0
LF:7
LH:3
end_of_record
"""

GCOV = """TN:run
SF:noise.c
VER:1
FNL:0,5,12
FNA:0,3,draw
FNL:1,14,20
FNA:1,0,never
BRDA:7,0,0,3
BRDA:7,0,1,-
BRDA:8,e0,0,0
BRDA:8,0,1,2
BRDA:15,0,0,-
DA:5,3
DA:7,18446744073709551616,sum
DA:8,1.8e+19
DA:15,0
end_of_record
"""


def _places(folder: Path, text: str) -> list[tuple[int, int, bool]]:
    file = folder / "lcov.info"
    file.write_text(text)
    (read,) = read_lcov(str(file))
    return [(one.first, one.last, one.branches) for one in unrun_places(read)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (C8, [(5, 5, True)]),
        (COVERAGE_PY, [(5, 5, True)]),
        (GCOV2LCOV, [(41, 44, False), (60, 60, False)]),
        (LLVM, [(11, 11, False), (34, 34, False)]),
        (GCOV, [(7, 7, True)]),
    ],
    ids=["c8", "coverage.py", "gcov2lcov", "cargo-llvm-cov", "gcov"],
)
def test_what_was_not_exercised(
    tmp_path: Path, text: str, expected: list[tuple[int, int, bool]]
) -> None:
    assert _places(tmp_path, text) == expected
    assert _places(tmp_path, text.replace("\n", "\r\n")) == expected


def test_what_one_section_misses_another_of_the_same_file_may_have(tmp_path: Path) -> None:
    other = GCOV2LCOV.replace("DA:42,0", "DA:42,1")
    assert _places(tmp_path, GCOV2LCOV + other) == [
        (41, 41, False),
        (44, 44, False),
        (60, 60, False),
    ]
    taken = C8.replace("BRDA:5,2,0,0", "BRDA:5,2,0,1")
    assert _places(tmp_path, C8 + taken) == []


def test_neighbouring_branches_are_one_range_unless_a_line_between_ran(tmp_path: Path) -> None:
    head, tail = "SF:a.c\nDA:1,1\n", "end_of_record\n"
    both = "BRDA:5,0,0,0\nBRDA:5,0,1,2\nBRDA:6,0,0,0\nBRDA:6,0,1,2\n"
    assert _places(tmp_path, head + both + tail) == [(5, 6, True)]
    apart = both.replace("BRDA:6", "BRDA:9") + "DA:7,3\n"
    assert _places(tmp_path, head + apart + tail) == [(5, 5, True), (9, 9, True)]
    never = both.replace("BRDA:6", "BRDA:9") + "DA:7,0\n"
    assert _places(tmp_path, head + never + tail) == [(5, 9, True)]


def test_the_end_of_a_function_is_kept_to_where_the_file_says_it(tmp_path: Path) -> None:
    lines = "DA:1,1\nDA:10,0\nDA:11,0\nDA:13,0\nend_of_record\n"
    named = "SF:a.c\nFN:10,{}never\nFNDA:0,never\n"
    assert _places(tmp_path, named.format("11,") + lines) == [(13, 13, False)]
    assert _places(tmp_path, named.format("") + lines) == []


def test_a_file_of_which_nothing_ran_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "lcov.info"
    file.write_text(GCOV2LCOV + "SF:other.go\nDA:1,0\nDA:2,0\nend_of_record\n")
    _, other = read_lcov(str(file))
    assert list(unrun_places(other)) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no line of code in it"),
        ("TN:\n", "no line of code in it"),
        ("SF:a.go\nend_of_record\n", "no line of code in it"),
        ("mode: set\na.go:1.2,3.4 1 0\n", "line 1: 'mode: set': expected SF:"),
        ('<?xml version="1.0"?>\n', "line 1: .*expected SF:"),
        ("SF:\nend_of_record\n", "line 1: 'SF:': expected SF:"),
        ("SF:a.go\nDA:1,1\n", "ends within the section of a.go"),
        ("SF:a.go\nDA:1,1\nSF:b.go\n", "line 3: 'SF:b.go': expected records"),
        ("SF:a.go\nDA:1\nend_of_record\n", "line 2: 'DA:1': no record"),
        ("SF:a.go\nDA:x,1\nend_of_record\n", "line 2: .*the number of a line"),
        ("SF:a.go\nDA:1,-1\nend_of_record\n", "line 2: .*a number from 0"),
        ("SF:a.go\nDA:1,nan\nend_of_record\n", "line 2: .*a number from 0"),
        ("SF:a.go\nDA:1,1e999999\nBRDA:1,0,0,x\nend_of_record\n", "line 3: .*a number from 0"),
        ("SF:a.go\nBRDA:1,0,1\nend_of_record\n", "line 2: .*no record"),
        ("SF:a.go\nXX:1,2\nend_of_record\n", "line 2: 'XX:1,2': no record"),
        (f"SF:a.go\nDA:{'9' * 5000},1\nend_of_record\n", "line 2: .*the number of a line"),
    ],
)
def test_a_malformed_file_is_one_line(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "lcov.info"
    file.write_text(text)
    with pytest.raises(RowsError, match=words) as told:
        read_lcov(str(file))
    assert "\n" not in str(told.value)
    assert str(file) in str(told.value)


def test_bytes_that_are_no_text_and_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.profraw").write_bytes(b"\xff\x00\xfe")
    with pytest.raises(RowsError, match="not UTF-8"):
        read_lcov(str(tmp_path / "a.profraw"))
    with pytest.raises(RowsError, match="a folder"):
        read_lcov(str(tmp_path))
