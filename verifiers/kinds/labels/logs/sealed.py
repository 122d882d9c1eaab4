"""An SQLite file with a checksum of its content, which detects damage."""

import hashlib
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ....inputs.release_log import LogError

OTHER_VERSION = "written by another version of dpassay: expected that version"
"""Why an undamaged file cannot be read."""

_DAMAGED = "damaged: it does not hold what was written to it: expected a copy of it"
_EMPTIED = "emptied: what it held is gone: expected a copy of it"

_FORMAT = 3
"""Version of the tables; version 1 had no seal at first, and no number is used again."""

_SEAL = "CREATE TABLE seal (id INTEGER PRIMARY KEY CHECK (id = 0), format INTEGER, value TEXT)"

# errors that are not about the content: permissions, locks, memory, disks
_OF_THE_MACHINE = {
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
}


class StateError(LogError):
    """The state of a monitor that cannot be used, or is of something else."""

    code = "state-unusable"


class Sealed:
    """Tables in the file at `path`, with a seal: the sum of the digests of all rows.

    Rows are written only by `put`. The file is created whole or not at all. tables: columns of
    each, with the key first; where: the beginning of messages. Raises StateError for a file that
    was emptied, is damaged, is of another version, or cannot be used.
    """

    def __init__(self, path: Path, where: str, tables: Mapping[str, str]) -> None:
        self.where = where
        with self._usable():
            if not path.exists():
                _create(path, tables)
            elif path.stat().st_size == 0:
                raise self.error(_EMPTIED)
            self._base = sqlite3.connect(path, isolation_level=None)
        try:
            self._keys = {table: columns.split()[0] for table, columns in tables.items()}
            with self._usable():
                self._seal = self._check_seal()
        except BaseException:
            self._base.close()
            raise

    def rows(self, question: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows that a SELECT finds."""
        with self._usable():
            return self._base.execute(question, values).fetchall()

    def put(self, table: str, *values: object) -> None:
        """Writes a row, replacing one with the same key; to be called in a transaction."""
        for row in self.rows(f"SELECT * FROM {table} WHERE {self._keys[table]} = ?", values[0]):
            self._seal -= _digest(table, row)
        places = ", ".join("?" for _ in values)
        with self._usable():
            self._base.execute(f"REPLACE INTO {table} VALUES ({places})", values)
        self._seal += _digest(table, values)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A block whose rows are all written, or none of them."""
        before = self._seal
        with self._usable():
            self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
            with self._usable():
                self._base.execute("UPDATE seal SET value = ?", (_hex(self._seal),))
                self._base.execute("COMMIT")
        except BaseException:
            self._seal = before
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Closes the file."""
        self._base.close()

    def _check_seal(self) -> int:
        """The seal, after comparing it with all rows. Raises StateError."""
        names = {row[0] for row in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "seal" not in names:
            raise self.error(OTHER_VERSION if names == {*self._keys} else _DAMAGED)
        seal = self.rows("SELECT format, value FROM seal")
        value, empty = 0, True
        for name in names - {"seal"}:
            quoted = name.replace('"', '""')
            for row in self._base.execute(f'SELECT * FROM "{quoted}"'):
                value += _digest(name, row)  # in a sum, equal rows do not cancel
                empty = False
        if not seal and empty:
            raise self.error(_EMPTIED)
        if len(seal) != 1:
            raise self.error(_DAMAGED)
        value += _digest("seal", seal[0][:1])
        if seal[0][1] != _hex(value):
            raise self.error(_DAMAGED)
        if seal[0][0] != _FORMAT:
            raise self.error(OTHER_VERSION)
        return value

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """A block in which errors of the file are raised as StateError."""
        try:
            yield
        except sqlite3.ProgrammingError:
            raise  # a mistake in our code, not in the file
        except (sqlite3.Error, UnicodeDecodeError) as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
            if code & 0xFF in _OF_THE_MACHINE:
                raise StateError(f"{self.where}: {error}") from None
            raise self.error(_DAMAGED) from None
        except OSError as error:
            raise StateError(f"{self.where}: {error.strerror or error}") from None

    def error(self, why: str) -> StateError:
        """The error for a file that cannot be used."""
        return StateError(f"{self.where}: {why}, or a new folder, which starts at row 1")


def _create(path: Path, tables: Mapping[str, str]) -> None:
    """Creates the file under another name and renames it, so that it is never incomplete."""
    beside = path.with_name(f"{path.name}.new")
    for name in (path, beside):  # SQLite would apply the journal of a deleted file to a new one
        for end in ("-wal", "-shm", "-journal"):
            name.with_name(name.name + end).unlink(missing_ok=True)
    beside.unlink(missing_ok=True)
    with closing(sqlite3.connect(beside, isolation_level=None)) as base:
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("BEGIN")
        for table, columns in tables.items():
            base.execute(f"CREATE TABLE {table} ({columns}) WITHOUT ROWID")
        base.execute(_SEAL)
        seal = _hex(_digest("seal", (_FORMAT,)))
        base.execute("INSERT INTO seal VALUES (0, ?, ?)", (_FORMAT, seal))
        base.execute("COMMIT")
    os.replace(beside, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _digest(table: str, row: tuple[object, ...]) -> int:
    """The digest of a row, with its table and the types of its values."""
    text = repr((table, *row)).encode(errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=16).digest())


def _hex(value: int) -> str:
    return f"{value % 2**128:032x}"
