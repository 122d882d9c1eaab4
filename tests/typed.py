"""A command line typed within the test's own process: a new one takes a second to start."""

import io
import signal
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from subprocess import CompletedProcess
from unittest.mock import patch

from documents import assert_published

from dpassay.verifiers.cli import main


def typed(*arguments: str, stdin: str = "") -> CompletedProcess[str]:
    """What `dpassay ARGUMENTS` does, as a process would tell it; its JSON is as published."""
    line, out, err = ["dpassay", *arguments], io.StringIO(), io.StringIO()
    handler = signal.getsignal(signal.SIGINT)
    with (
        tempfile.TemporaryFile("w+") as typed_in,  # commands read it by its number
        redirect_stdout(out),
        redirect_stderr(err),
        patch.object(sys, "argv", line),
        patch.object(sys, "stdin", typed_in),
    ):
        typed_in.write(stdin)
        typed_in.seek(0)
        try:
            main()
        except SystemExit as ended:
            status = int(ended.code or 0)
        finally:
            signal.signal(signal.SIGINT, handler)  # which a command leaves as its process ends
    for text in _documents(arguments, out.getvalue()):
        assert_published(arguments[0], text)
    return CompletedProcess(line, status, out.getvalue(), err.getvalue())


def _documents(arguments: tuple[str, ...], out: str) -> list[str]:
    """The JSON documents that a command printed, all but reports, which have tests of their own."""
    if "monitor" in arguments[:1]:
        return out.splitlines()
    return [out] if out and "--json" in arguments and arguments[0] != "verify" else []


def assert_misuse(done: CompletedProcess[str], *words: str) -> None:
    """Asserts status 2, nothing on stdout, and one line on stderr, which has these words."""
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    for each in words:
        assert each in done.stderr, done.stderr
