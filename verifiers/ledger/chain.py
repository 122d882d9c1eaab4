"""A file of JSON lines that only grows, each sealed together with all lines before it.

A line ends with its seal, the SHA-256 of the seal before it and of its own bytes. The last seal
stands in a file beside it as well (FILE.seal), so that a file that is cut, or begun anew, is told
from a whole one. A line is on the disk before that file knows of it.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..inputs.input_error import InputError

_BEGINS = b'{"entry":"ledger"'
_KEY = b',"seal":"'
_TAIL = len(_KEY) + 64 + len(b'"}')


class LedgerError(InputError):
    """A ledger that cannot be used, or is not what was written."""

    code = "ledger-unusable"


class SealedLines:
    """The lines of a file, locked until it is closed.

    entries: of all lines, without their seals; seal: of the last one, empty where there is none;
    told: what a reader should know of the file, in a few words each.
    """

    def __init__(self, path: Path, wait: Callable[[str], None]) -> None:
        """Opens a file, which is made where there is none.

        wait: told in one line that another run holds the file, before it is waited for. Raises
        LedgerError of one line.
        """
        self.path, self.beside = path, _beside(path)
        self.entries: list[dict[str, Any]] = []
        self.told: list[str] = []
        self.seal = ""
        try:
            self._file = self._locked(wait)
        except OSError as error:
            raise LedgerError(f"{path}: {error.strerror or error}") from None
        try:
            self._read()
        except BaseException:
            self.close()
            raise

    def append(self, entry: dict[str, Any]) -> None:
        """Adds a line, which is on the disk when this returns. Raises LedgerError."""
        body = json.dumps(entry, allow_nan=False, separators=(",", ":")).encode()
        seal = _sealed(self.seal, body)
        try:
            _write_all(self._file, body[:-1] + _KEY + seal.encode() + b'"}\n')
            os.fsync(self._file)
            self.entries.append(entry)
            self.seal = seal
            self._note()
        except OSError as error:
            raise LedgerError(f"{self.path}: {error.strerror or error}") from None

    def close(self) -> None:
        """Closes the file, which another run may then have."""
        os.close(self._file)

    def _locked(self, wait: Callable[[str], None]) -> int:
        """The file, open and locked."""
        while True:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            try:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    wait(
                        f"{self.path}: another run adds to this ledger; waiting until it has ended"
                    )
                    fcntl.flock(file, fcntl.LOCK_EX)
                if self.path.exists() and os.path.samestat(os.fstat(file), self.path.stat()):
                    return file  # else it was replaced while it was waited for
            except BaseException:
                os.close(file)
                raise
            os.close(file)

    def _read(self) -> None:
        found = read_lines(self.path)
        self.entries, self.seal, self.told = found.entries, found.seal, found.told
        if found.whole < self.path.stat().st_size:  # a write that the machine did not finish
            os.ftruncate(self._file, found.whole)

    def _note(self) -> None:
        """Tells the file beside it of the last line."""
        known = {"seal": self.seal, "lines": len(self.entries), "file": _identity(self.path)}
        new = self.beside.with_name(f"{self.beside.name}.new")
        new.write_text(json.dumps(known) + "\n")
        os.replace(new, self.beside)


@dataclass
class Lines:
    """The lines of a file as they were read.

    entries: without their seals; seal: of the last one, empty where there is none; told: as
    `SealedLines` has it; whole: bytes of the lines that were written to the end.
    """

    entries: list[dict[str, Any]]
    seal: str
    told: list[str]
    whole: int


def read_lines(path: Path) -> Lines:
    """Reads the lines of a file, and changes nothing. Raises LedgerError of one line."""
    beside = _beside(path)
    known = _known(beside)  # first: another run may add a line, and tell the file beside of it
    try:
        text = path.read_bytes()
    except OSError as error:
        raise LedgerError(f"{path}: {error.strerror or error}") from None
    found = Lines([], "", [], text.rfind(b"\n") + 1)
    seals = [""]
    for number, line in enumerate(text[: found.whole].splitlines(), 1):
        entry, seal = _opened(line, seals[-1])
        if entry is None:
            raise LedgerError(f"{path}: line {number} is not what was written: changed")
        found.entries.append(entry)
        seals.append(seal)
    found.seal = seals[-1]
    if known is None:
        if found.entries:
            found.told.append(f"a copy that came without {beside.name}, so it may be cut")
    elif known["seal"] not in seals[1:]:
        raise LedgerError(
            f"{path}: cut short, emptied or another one: {beside.name} knows "
            f"{known['lines']} lines, {len(found.entries)} are here; bring it back, or remove "
            "both files to begin anew"
        )
    elif known["file"] != _identity(path):
        found.told.append("a copy of the file that the run before wrote")
    if found.whole < len(text):
        found.told.append("its last line was not written to the end, and is left out")
    return found


def is_ledger(path: Path) -> bool:
    """Whether a file is a ledger, by its beginning, or by the file beside it."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_BEGINS)) == _BEGINS or _beside(path).exists()


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.seal")


def _known(beside: Path) -> dict[str, Any] | None:
    """What the file beside a ledger says; None where there is none."""
    try:
        found = json.loads(beside.read_bytes())
        return {key: found[key] for key in ("seal", "lines", "file")}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError):
        raise LedgerError(f"{beside}: not what was written: changed") from None


def _identity(path: Path) -> list[int]:
    """Which file it is on this machine."""
    found = path.stat()
    return [found.st_dev, found.st_ino]


def _sealed(before: str, body: bytes) -> str:
    return hashlib.sha256(before.encode() + body).hexdigest()


def _opened(line: bytes, before: str) -> tuple[dict[str, Any] | None, str]:
    """The entry of a line and its seal; None where the line is not as it was written."""
    body, seal = line[:-_TAIL] + b"}", line[-_TAIL:]
    right = _sealed(before, body)
    if seal != _KEY + right.encode() + b'"}':
        return None, right
    entry: dict[str, Any] = json.loads(body)
    return entry, right


def _write_all(file: int, line: bytes) -> None:
    while line:
        line = line[os.write(file, line) :]
