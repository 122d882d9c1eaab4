"""A state on disk: what became of it is told, each in words of its own, and nothing is guessed."""

import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from claims import SMALL_TOML
from followed import HEAD, content, lines, run_out
from small import small_claim
from typed import typed

from dpassay.verifiers.inputs.release_log import LogError
from dpassay.verifiers.kinds.labels.logs import sealed
from dpassay.verifiers.kinds.labels.logs.judge import LogEvidence
from dpassay.verifiers.kinds.labels.logs.monitor import Monitor

DAMAGED = "damaged: it does not hold what was written to it: expected a copy of it, or a new folder"
EMPTIED = "emptied: what it held is gone: expected a copy of it, or a new folder"
VERSION = "written by another version of dpassay: expected that version, or a new folder"


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """A folder with a log that raises alarms, and the state after it."""
    folder = tmp_path_factory.mktemp("followed")
    (folder / "log.csv").write_text(HEAD + lines(600, 11, 0.3))
    assert run_out(folder / "log.csv", folder / "state").alarms
    return folder


def changed(folder, question):
    """What a change by SQL leaves."""
    with closing(sqlite3.connect(folder / "monitor.sqlite", isolation_level=None)) as base:
        base.executescript(question)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("DELETE FROM state", DAMAGED),
        ("UPDATE state SET claim = replace(claim, '10', '11')", DAMAGED),
        ("UPDATE state SET place = NULL", DAMAGED),
        ("UPDATE histograms SET last = (last + 1) % 4", DAMAGED),
        ("DELETE FROM histograms WHERE votes = '20,15,5,0'", DAMAGED),
        ("INSERT INTO inputs VALUES ('x', '1,2', 1, x'00')", DAMAGED),
        ("UPDATE alarms SET printed = 1", DAMAGED),
        ("DROP TABLE alarms", DAMAGED),
        ("UPDATE seal SET format = 2", DAMAGED),
        ("DELETE FROM seal", DAMAGED),
        (
            "DELETE FROM seal; DELETE FROM state; DELETE FROM histograms; DELETE FROM alarms",
            EMPTIED,
        ),
    ],
)
def test_every_row_is_sealed(followed, tmp_path, question, said) -> None:
    """Catches a seal over the state alone, and a changed claim told as another claim."""
    shutil.copytree(followed / "state", tmp_path / "state")
    changed(tmp_path / "state", question)
    with pytest.raises(LogError, match=f"^--state {tmp_path / 'state'}: {said}"):
        run_out(followed / "log.csv", tmp_path / "state")


@pytest.mark.slow("every byte; each kind of damage has a test of its own")
def test_any_damage_of_the_file_is_told_or_touches_nothing(followed, tmp_path) -> None:
    """Bits that flip, parts that are zeroed, an end that is lost: catches tracebacks, damage told
    as another claim, and rows that come twice and cancel in the seal, as the phantom rows of a page
    do that counts too many. Where a flip goes unseen, what is read is what was written.
    """
    whole = (followed / "state" / "monitor.sqlite").read_bytes()
    good, rng, told = content(followed / "state"), np.random.default_rng(5), 0
    places = rng.integers(1, len(whole) - 512, (3, 20)).tolist()
    counts = [page + 4 for page in range(4096, len(whole), 4096)]  # of the rows in a page
    flips = [(at, 1 << (at % 8)) for at in places[0]] + [
        (at, 1 << b) for at in counts for b in range(8)
    ]
    damaged = [whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :] for at, bit in flips]
    damaged += [whole[:at] + bytes(512) + whole[at + 512 :] for at in places[1]]
    damaged += [whole[:at] for at in places[2]]
    folder = tmp_path / "state"
    for data in damaged:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "monitor.sqlite").write_bytes(data)
        try:
            Monitor(str(followed / "log.csv"), small_claim(), str(folder), once=True).close()
        except LogError as error:
            assert DAMAGED in str(error)  # noqa: PT017 - or nothing is raised
            told += 1
        else:
            assert content(folder) == good
    assert told >= 40  # every file that was cut short, at least


def test_a_file_that_was_emptied_or_is_none_of_ours_is_told(followed, tmp_path) -> None:
    for data, said in ((b"", EMPTIED), (b"not a database" * 999, DAMAGED)):
        (tmp_path / "monitor.sqlite").write_bytes(data)
        with pytest.raises(LogError, match=said):
            run_out(followed / "log.csv", tmp_path)


def test_a_state_of_another_version_is_told_as_that(followed, tmp_path, monkeypatch) -> None:
    """Without a seal, of other formats, and of evidence that has other parts."""
    shutil.copytree(followed / "state", tmp_path / "first")
    changed(tmp_path / "first", "DROP TABLE seal")
    with pytest.raises(LogError, match=VERSION):
        run_out(followed / "log.csv", tmp_path / "first")
    for other in (1, 2, 4):
        with monkeypatch.context() as version:
            version.setattr(sealed, "_FORMAT", other)
            sealed.Sealed(tmp_path / str(other), "", {}).close()
        with pytest.raises(LogError, match=VERSION):
            sealed.Sealed(tmp_path / str(other), "", {})
    monkeypatch.setattr(LogEvidence, "SAVED", ("asked", "rows"))
    with pytest.raises(LogError, match=VERSION):
        run_out(followed / "log.csv", followed / "state")


@pytest.mark.slow("over half a second")
def test_what_starts_anew_says_so_and_what_goes_on_does_not(followed, tmp_path) -> None:
    """Catches a state that was taken away and is not missed, whatever journal it left behind."""
    claim, state = tmp_path / "claim.toml", tmp_path / "state"
    claim.write_text(SMALL_TOML)
    words = ["monitor", str(followed / "log.csv"), "--claim", str(claim), "--state", str(state)]
    message = f"dpassay: {state} holds no state yet: starting at row 1\n"
    assert message in typed(*words, "--once").stderr
    assert "starting" not in typed(*words, "--once").stderr
    (state / "monitor.sqlite").rename(state / "monitor.sqlite-wal")
    found = typed(*words, "--once")
    assert message in found.stderr
    assert found.stdout.count("class-probabilities") == 1
    shutil.rmtree(state)
    assert message in typed(*words, "--once").stderr


def test_a_state_appears_whole_or_not_at_all(followed, tmp_path, monkeypatch) -> None:
    """Catches a file that is opened under its name before it holds anything."""

    def killed(*_paths: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as kill:
        kill.setattr("os.replace", killed)
        with pytest.raises(KeyboardInterrupt):
            run_out(followed / "log.csv", tmp_path)
    assert not (tmp_path / "monitor.sqlite").exists()
    assert run_out(followed / "log.csv", tmp_path).evidence.asked == 600
