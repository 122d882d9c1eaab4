"""The file of a ledger: what was changed, cut, copied or begun anew is told, in one line."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dpassay.verifiers.ledger.chain import LedgerError, SealedLines


def never(line: str) -> None:
    raise AssertionError(line)


def written(path: Path, entries: int = 3) -> list[dict[str, int]]:
    """Entries of a file that is written line by line."""
    chain = SealedLines(path, never)
    for number in range(entries):
        chain.append({"number": number})
    chain.close()
    return chain.entries


def reopened(path: Path) -> SealedLines:
    chain = SealedLines(path, never)
    chain.close()
    return chain


def test_lines_come_back(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    assert written(path) == reopened(path).entries
    assert reopened(path).told == []


def test_any_changed_byte_is_told(tmp_path: Path) -> None:
    """Wherever it stands: catches a seal of the entry alone, or of its parsed form."""
    path = tmp_path / "l.jsonl"
    written(path)
    text = path.read_bytes()
    for place in range(0, len(text) - 1, 11):
        path.write_bytes(text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :])
        with pytest.raises(LedgerError):
            reopened(path)
    path.write_bytes(text)
    assert len(reopened(path).entries) == 3


@pytest.mark.parametrize("left", [0, 1, 2])
def test_lines_that_are_cut_away_are_told(tmp_path: Path, left: int) -> None:
    """What is left is a whole chain: catches a file that is judged by itself."""
    path = tmp_path / "l.jsonl"
    written(path)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:left]))
    with pytest.raises(LedgerError, match="knows 3 lines"):
        reopened(path)


def test_a_file_that_is_begun_anew_is_told(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    written(path)
    path.unlink()
    with pytest.raises(LedgerError):
        reopened(path)


def test_a_line_out_of_its_place_is_told(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    written(path)
    first, second, third = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(second + first + third)
    with pytest.raises(LedgerError):
        reopened(path)


def test_a_copy_is_told(tmp_path: Path) -> None:
    """Also one without the file beside it, which might have said that it is cut."""
    path, copied = tmp_path / "l.jsonl", tmp_path / "copy.jsonl"
    written(path)
    shutil.copy(path, copied)
    assert len(reopened(copied).told) == 1
    shutil.copy(f"{path}.seal", f"{copied}.seal")
    assert len(reopened(copied).told) == 1


def test_a_write_that_was_not_finished_is_left_out(tmp_path: Path) -> None:
    """Whatever of the line is there; the next one goes where it began."""
    path = tmp_path / "l.jsonl"
    written(path)
    whole, seal = path.read_bytes(), Path(f"{path}.seal").read_bytes()
    written_more = SealedLines(path, never)
    written_more.append({"number": 3})
    written_more.close()
    more = path.read_bytes()
    for size in range(len(whole) + 1, len(more), 20):
        path.write_bytes(more[:size])
        Path(f"{path}.seal").write_bytes(seal)
        chain = SealedLines(path, never)
        assert len(chain.told) == 1
        chain.append({"number": 3})
        chain.close()
        assert path.read_bytes() == more


def test_a_seal_beside_it_that_is_changed_is_told(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    written(path)
    Path(f"{path}.seal").write_text("{}")
    with pytest.raises(LedgerError):
        reopened(path)


def test_two_runs_at_once_wait_for_each_other(tmp_path: Path) -> None:
    """The second one says so, and sees what the first has written. Catches a file read early."""
    path, said, found = tmp_path / "l.jsonl", [], []
    first, waits = SealedLines(path, never), threading.Event()

    def tell(line: str) -> None:
        said.append(line)
        waits.set()

    def second() -> None:
        chain = SealedLines(path, tell)
        found.extend(chain.entries)
        chain.close()

    other = threading.Thread(target=second)
    other.start()
    assert waits.wait(30.0)
    first.append({"number": 0})
    first.close()
    other.join(30.0)
    assert found == [{"number": 0}]
    assert len(said) == 1
    assert "\n" not in said[0]


WRITER = """
import sys
from pathlib import Path
from dpassay.verifiers.ledger.chain import SealedLines
chain = SealedLines(Path(sys.argv[1]), print)
number = 0
while True:
    chain.append({"number": number, "filling": "x" * 5000})
    number += 1
    print(number, flush=True)
"""


@pytest.mark.slow("starts processes, and ends them")
def test_a_killed_run_loses_nothing_that_was_written(tmp_path: Path) -> None:
    """Whatever it was about; catches lines that wait in a buffer of the process."""
    path = tmp_path / "l.jsonl"
    for _ in range(2):
        command = [sys.executable, "-c", WRITER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            for _ in range(4):
                said = int(writer.stdout.readline())
            os.kill(writer.pid, signal.SIGKILL)
            said = max([said, *map(int, writer.stdout.read().split())])
        numbers = [entry["number"] for entry in reopened(path).entries]
        began = len(numbers) - 1 - numbers[::-1].index(0)
        assert len(numbers[began:]) >= said
        assert numbers[began:] == list(range(len(numbers) - began))
