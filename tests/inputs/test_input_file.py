"""A file of inputs is read whole or refused in one line; the votes on an input are fixed."""

import json

import pytest

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.inputs.input_file import Input, read_inputs
from dpassay.verifiers.kinds.reading import parse_claim


def written(tmp_path, text, name="inputs.jsonl"):
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def test_json_lines_hold_queries_votes_and_histograms(tmp_path) -> None:
    rows = [
        {"id": 7, "input": {"pixels": [1, 2]}, "votes": [0, 0, 2, 1]},
        {"input": "a text", "histogram": [4, 0, 0]},
        {"histogram": [1, 1, 2], "votes": [2, 0, 1, 2]},
    ]
    path = written(tmp_path, "\n".join(map(json.dumps, rows)))
    assert read_inputs(path, 3, 4, need_queries=False) == (
        Input((2, 1, 1), '{"pixels": [1, 2]}', (0, 0, 2, 1), "7"),
        Input((4, 0, 0), '"a text"', None, None),
        Input((1, 1, 2), None, (2, 0, 1, 2), None),
    )


def test_csv_has_a_column_for_each_class_and_two_of_names(tmp_path) -> None:
    rows = "id,zero,one,input\n a,3,1,first\nb,4,0,second\n"
    path = written(tmp_path, rows, "inputs.csv")
    found = read_inputs(path, 2, 4, need_queries=True)
    assert found == (Input((3, 1), '"first"', None, "a"), Input((4, 0), '"second"', None, "b"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no inputs|a header"),
        ("a,b\n", "no inputs: expected one per row"),
        ("3,1\n4,0\n", "line 1: expected JSON objects, or a header"),
        ("a,b\n3,x\n", "line 2: 'x' is not a whole number of votes"),
        ("a,b\n3\n", "line 2: 1 columns, but 2 in the header"),
        ('{"histogram": [3, 2]}', "line 1: 2 classes and 5 votes, but the claim has 2 classes"),
        ('{"histogram": [3, 1]', "line 1: .* is no JSON object"),
        ('{"input": 1}', "line 1: neither histogram nor votes"),
        ('{"histogram": [3, 1], "label": 1}', "line 1: 'label': allowed are id, input, histogram"),
        ('{"votes": [0, 0, 1, 2]}', "line 1: vote '2': expected the class of each teacher, 0 to 1"),
        ('{"votes": [0, 0, 1, true]}', "line 1: vote 'True'"),
        ('{"input": NaN, "histogram": [3, 1]}', "line 1: .* is no JSON object"),
        ("[" * 3 + "]" * 3, "line 1: expected JSON objects, or a header"),
        (
            '{"histogram": [3, 1], "input": ' + "[" * 60 + "]" * 60 + "}",
            "line 1: an input nested more than 50 deep",
        ),
        ("a,b,input,input\n3,1,x,y\n", "line 1: more than one column named input"),
        ('{"votes": []}', r"line 1: votes '\[\]'"),
        ('{"votes": [0, 0, 0, 1], "histogram": [2, 2]}', "is not that of the votes, "),
        (
            '{"input": 1, "histogram": [3, 1]}\n\n{"input": 1, "histogram": [2, 2]}',
            "line 3: input 1 has other votes than in a row above: the votes on an input are fixed",
        ),
        (
            '{"id": "x", "histogram": [3, 1]}\n{"id": "x", "histogram": [2, 2]}',
            "line 2: id x has other votes",
        ),
    ],
)
def test_what_is_no_file_of_inputs_is_refused_by_its_line(text, words, tmp_path) -> None:
    with pytest.raises(ValueError, match=words) as error:
        read_inputs(written(tmp_path, text), 2, 4, need_queries=False)
    assert "\n" not in str(error.value)


def test_other_ends_of_lines_than_newlines_are_text(tmp_path) -> None:
    path = tmp_path / "inputs.jsonl"
    path.write_bytes('{"input": "a\u2028b", "histogram": [3, 1]}\r\n'.encode())
    (row,) = read_inputs(str(path), 2, 4, need_queries=True)
    assert row.query == '"a\\u2028b"'


def test_ids_that_are_left_blank_are_none(tmp_path) -> None:
    path = written(tmp_path, "id,zero,one\n,3,1\n,4,0\n", "inputs.csv")
    assert [row.key for row in read_inputs(path, 2, 4, need_queries=False)] == [None, None]


def test_rows_may_come_again_with_the_same_votes(tmp_path) -> None:
    row = '{"input": 1, "histogram": [3, 1]}\n'
    assert len(read_inputs(written(tmp_path, row * 2), 2, 4, need_queries=True)) == 2
    with pytest.raises(ValueError, match=r'no input.*form = "query"'):
        read_inputs(written(tmp_path, '{"histogram": [3, 1]}'), 2, 4, need_queries=True)


@pytest.mark.parametrize(
    ("inputs", "mechanism", "words"),
    [
        ({"form": "query"}, {}, 'inputs: file is missing: only form = "votes" and "one-hot"'),
        ({}, {}, "inputs: file is missing"),
        ({"form": "image"}, {}, "inputs.form = 'image': "),
        ({"file": "nowhere.jsonl"}, {}, "inputs.file: nowhere.jsonl: No such file"),
        ({"fil": "x"}, {}, r"inputs.fil is no known key \(did you mean file\?\)"),
        ({"form": "votes"}, {"caching": True}, "inputs: caching = true leaves one answer"),
    ],
)
def test_a_wrong_table_is_one_line_of_the_claim(inputs, mechanism, words) -> None:
    made = {"name": "gnmax", "noise": "gaussian:10", "classes": 2, "teachers": 4, **mechanism}
    with pytest.raises(ClaimError, match=words):
        parse_claim({"mechanism": made, "inputs": inputs})
