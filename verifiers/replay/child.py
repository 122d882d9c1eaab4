"""The process that runs a target on a tape: `python -m dpassay.verifiers.replay.child FD SPEC`.

Each run is a fork of a process that has loaded nothing but this package, so that every run begins
with the same memory, also that of generators with a seed, and loads the target anew.
"""

import importlib.util
import os
import random
import sys
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from ..paths.forks import in_fork
from ..run.refusals import ABOUT_THE_INPUT
from ..targets.in_process import InProcessTarget
from ..targets.labels import checked_labels
from ..targets.replies import Refused, TargetError
from ..targets.spec import load, split_spec
from .frozen import FrozenCall, NoReleaseError, Ran
from .sources import install
from .steps import LineTrace
from .tape import Tape

_SEED = 20_260_217  # of generators for the whole process; where nothing is recorded, and the turn

_UNFROZEN = ("opendp", "tmlt", "pipeline_dp", "pydp")
"""Packages that draw outside Python, which no tape sees."""


def main(descriptor: str, spec: str) -> None:
    """Answers requests on a connection until its other end is closed."""
    connection = Connection(int(descriptor))
    os.dup2(2, 1)  # what the target prints is no answer
    sys.path.insert(0, os.getcwd())
    while True:
        try:
            asked = connection.recv()
        except EOFError:
            return
        run = partial(_answered, spec, asked)
        connection.send_bytes(in_fork(run, lambda why: NoReleaseError(f"{spec}: {why}"), None))


def _answered(spec: str, asked: FrozenCall) -> Any:
    """The `Ran` of a run, or the error that it ended with."""
    if asked.turn > 1:  # what each run would print or warn of is seen once
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.dup2(2, 1)
    try:
        return _run(spec, asked)
    except Refused as error:
        return Refused(str(error))
    except TargetError as error:  # of whatever class: that of a call cannot be pickled
        made = NoReleaseError if error.code in ABOUT_THE_INPUT else TargetError
        return made(str(error), error.code)
    except BaseException as error:
        raised = f"{spec} raised {type(error).__name__}: {error}"
        return NoReleaseError(raised.splitlines()[0])


def _run(spec: str, asked: FrozenCall) -> Ran:
    tape = Tape(asked.recorded, _folders(spec))
    seed = _SEED + (asked.turn if asked.recorded is None else 0)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - the generator of the whole process
    install(tape)
    steps = LineTrace()
    target = InProcessTarget(load(spec), release=asked.release)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)
    if asked.traced:
        with steps.traced(tape):
            reply = target.ask(asked.values, 1)
    else:
        reply = target.ask(asked.values, 1)
    tape.finish()
    shaped = asked.release.shaped(reply, asked.values, 1)
    if asked.refuses is not None:
        shaped = checked_labels(shaped, asked.values, 1, asked.refuses, asked.release)
    known = tuple(name for name in _UNFROZEN if name in sys.modules)
    return Ran(shaped, tuple(tape.draws), tuple(tape.partings), steps, known)


def _folders(spec: str) -> tuple[str, ...]:
    """Where the target's own code lies."""
    module, _ = split_spec(spec)
    if module.endswith(".py"):
        return (str(Path(module).resolve().parent),)
    found = importlib.util.find_spec(module.partition(".")[0])
    if found is None:
        return ()
    return tuple(found.submodule_search_locations or [found.origin or ""])


if __name__ == "__main__":
    main(*sys.argv[1:])
