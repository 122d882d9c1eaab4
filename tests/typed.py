"""A command line typed within the test's own process: a new one takes a second to start."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from subprocess import CompletedProcess
from unittest.mock import patch

from dpassay.verifiers.cli import main


def typed(*arguments, stdin=""):
    """What `dpassay ARGUMENTS` does, as `subprocess.run` would tell it."""
    line, out, err = ["dpassay", *arguments], io.StringIO(), io.StringIO()
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        patch.object(sys, "argv", line),
        patch.object(sys, "stdin", io.StringIO(stdin)),
    ):
        try:
            main()
        except SystemExit as ended:
            status = ended.code or 0
    return CompletedProcess(line, status, out.getvalue(), err.getvalue())
