"""What `dpassay account` reads: files, logs and claims; what it refuses is told in a line."""

import json

import pytest
from charged import CONFIDENT, GNMAX, HEADER, ROW, charged, run
from claims import gnmax, in_toml
from typed import assert_misuse

from dpassay.verifiers.inputs.histogram_file import read_histograms


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("", GNMAX, "no histograms: expected one per row"),
        ("1,2\n1,x\n", GNMAX, "line 2: 'x' is not a whole number of votes"),
        # a mistyped first row that passed for a header would be asked, and not charged
        ("150.5,50\n150,50\n", GNMAX, "line 1: '150.5' is not a whole number of votes"),
        ("nan,nan\n150,50\n", GNMAX, "line 1: 'nan' is not a whole number of votes"),
        ("0,1,2\n0,150,50\n", GNMAX, "line 1: column numbers, not votes"),
        (",a,b\n7,150,50\n", GNMAX, "line 1: column 1 has no name"),
        ("a,label,label\n0,1,1\n", GNMAX, "line 1: 2 columns named label: expected one"),
        ("15O,50\n150,50\n", GNMAX, "line 1: '15O' is not a whole number"),
        ("10;20\n", GNMAX, "line 1: '10;20' is not a whole number of votes: expected 0 to 2^53"),
        ("a,b,Label\n9,1,2\n", GNMAX, "line 2: label 2 of 2 classes: expected 0 to 1, or -1"),
        (ROW, ["--mechanism", "gnmax", "--noise", "gaussian:1e300"], "SCALE from 0.001 to 1e9"),
        (ROW, [*CONFIDENT[:4], "--threshold", "1e300", *CONFIDENT[6:]], "expected -1e9 to 1e9"),
        (ROW, [*GNMAX, "--epsilon", "1e300"], "repeats fit: expected a budget that limits"),
        ("1,2\n1,2,3\n", GNMAX, "line 2: 3 columns, but 2 in the first row"),
        ("1,-2\n", GNMAX, "line 1: histogram has -2 votes for class 1"),
        ("5\n", GNMAX, "line 1: histogram [5]: expected at least two classes"),
        (ROW, ["--noise", "gaussian:4"], "expected --mechanism and --noise, or --claim FILE"),
        (ROW, ["--mechanism", "gmax"], "is not one of 'gnmax', 'lnmax', 'confident-gnmax'"),
        (ROW, [*GNMAX, "--claim", "a.toml"], "give one or the other"),
        ("a,time\n9,1\n", GNMAX, "line 1: a column named time, as logs have, but none named label"),
        ('{"id": "a", "label": 1}\n', GNMAX, "line 1: no histogram: id 'a' needs [inputs]"),
        ('{"histogram": [9, 1]}\n', GNMAX, "line 1: no label: allowed are histogram, label, id"),
        ('{"histogram": [9, 1], "label": null}\n', GNMAX, "label 'None' is not a whole number"),
        ("0,0\n", [*GNMAX, "--analysis", "exact"], "no votes, so no neighbour"),
        (ROW, ["--mechanism", "lnmax", "--noise", "gaussian:4"], "lnmax takes laplace noise"),
        (ROW, [*GNMAX, "--threshold", "4"], "--threshold belongs to confident-gnmax"),
        (ROW, CONFIDENT[:4], "needs --threshold and --threshold-noise"),
        (ROW, [*CONFIDENT, "--charging", "realised"], "needs a column 'label'"),
        ("a,b,label\n9,1,cat\n", GNMAX, "line 2: label 'cat' is not a whole number: expected a"),
        ("label,a,b\n0.5,9,1\n", GNMAX, "line 2: label '0.5' is not a whole number: expected a"),
        ("a,b,label\n9,,0\n", GNMAX, "line 2: '' is not a whole number of votes"),
        ("a,b,label\n9,1,0\n9,1,-1\n", GNMAX, "label -1 of histogram 2: a refusal, but"),
        (
            *("a,b,label\n9,1,-1\n", ["--mechanism", "lnmax", "--noise", "laplace:4"]),
            "but only confident-gnmax refuses: expected a class from 0",
        ),
        (ROW, [*GNMAX, "--epsilon", "1", "--repeat", "2"], "give one or the other"),
    ],
)
def test_bad_input_is_one_line_on_stderr(tmp_path, text, arguments, message) -> None:
    assert_misuse(run(text, *arguments, "--delta", "1e-5", folder=tmp_path), message)


def test_a_missing_file_is_one_line(tmp_path) -> None:
    with pytest.raises(ValueError, match="No such file"):
        read_histograms(str(tmp_path / "nowhere.csv"))


def as_json_lines(text):
    """A CSV with a label column as JSON Lines, each row with its time."""
    rows = [[int(cell) for cell in line.split(",")] for line in text.splitlines()[1:]]
    return "".join(
        json.dumps({"time": n, "histogram": votes, "label": label}) + "\n"
        for n, (*votes, label) in enumerate(rows)
    )


def test_logs_are_read_as_verify_reads_them(tmp_path) -> None:
    """In every form the same rows: a time that passed for votes would change the cost."""
    options = [*CONFIDENT, "--delta", "1e-5", "--charging", "realised"]
    text = f"{HEADER},label\n{ROW},-1\n{ROW},7\n{ROW[::-1]},1\n"
    timed = "".join(f"{n if n else 'time'},{line}\n" for n, line in enumerate(text.splitlines()))
    found = charged(text, *options, folder=tmp_path)
    for other in (as_json_lines(text), timed, text.replace("\n", "\r\n"), text.replace(",", ", ")):
        assert charged(other, *options, folder=tmp_path) == found


def test_a_claim_tells_the_mechanism_and_its_inputs(tmp_path) -> None:
    """A log that names its inputs by id costs what their votes cost."""
    votes = [214, 30, 6]
    (tmp_path / "inputs.jsonl").write_text(json.dumps({"id": "a", "histogram": votes}) + "\n")
    claim = tmp_path / "claim.toml"
    claim.write_text(
        in_toml(mechanism=gnmax(40, 3), inputs={"file": str(tmp_path / "inputs.jsonl")})
    )
    messages = ["--claim", str(claim), "--delta", "1e-5"]
    found = charged('{"id": "a", "label": 0}\n' * 3, *messages, folder=tmp_path)
    assert found == charged("214,30,6\n" * 3, *GNMAX, "--delta", "1e-5", folder=tmp_path)
