"""The services: what each does, the server that runs it, and what should be said of it."""

from dataclasses import dataclass

WORKERS = 4
_FORKED = ("gunicorn", "--workers", str(WORKERS), "--config", "python:benchmarks.services.hooks")
_LOADED_FIRST = (*_FORKED, "--preload")
_THREADED = (*_FORKED[:1], "--workers", "1", "--worker-class", "gthread", "--threads", "8")
_SPAWNED = ("uvicorn", "--workers", str(WORKERS), "--log-level", "warning", "--no-access-log")


@dataclass(frozen=True)
class Entry:
    """A service. kind: its noise, a key of `noises.KINDS`; server: the command without its address.

    correct: whether it draws as its claim says; effect: what it does, in a few words.
    """

    id: str
    effect: str
    kind: str
    server: tuple[str, ...]
    correct: bool = False

    @property
    def telling(self) -> tuple[str, ...]:
        """Options of the server by which these differ, beside its number of workers."""
        places = [i for i, word in enumerate(self.server) if word in ("--preload", "--threads")]
        return () if not places else self.server[places[0] :]


ENTRIES = {
    entry.id: entry
    for entry in (
        Entry("own-generators", "each worker seeded by the system", "own", _FORKED, correct=True),
        Entry("own-spawned", "the same, each in a new process", "own", _SPAWNED, correct=True),
        Entry("forked-after-seeding", "a generator made before the fork", "one", _LOADED_FIRST),
        Entry("one-seed", "every worker imports a module that sets one seed", "seven", _SPAWNED),
        Entry("worker-number", "each worker seeded by its number", "number", _FORKED),
        Entry("second-of-start", "each worker seeded by the second it starts", "second", _FORKED),
        Entry("millisecond-of-call", "each call seeded by its millisecond", "millisecond", _FORKED),
        Entry("race", "threads copy a generator, draw, and put it back", "race", _THREADED),
        Entry("seeds-of-16-bits", "each call seeded by 16 random bits", "16 bits", _FORKED),
        Entry("noise-of-connection", "one draw for each connection", "connection", _SPAWNED),
        Entry("noise-of-connection-threads", "the same, behind threads", "connection", _THREADED),
        Entry(
            "generator-of-connection",
            "a generator for each connection, seeded by the system",
            "own of connection",
            _SPAWNED,
            correct=True,
        ),
        Entry("shared-pool", "4,096 draws made before the fork, at random", "pool", _LOADED_FIRST),
    )
}
