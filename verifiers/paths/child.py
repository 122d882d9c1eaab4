"""The process of a shadow: `python -m dpassay.verifiers.paths.child FD RECORD SCRATCH SPEC`.

It loads a copy of the target, its decisions counted, and runs it in forks of itself, so that each
run begins with the state after the import. What it may do is confined, as `confinement.py` says.
"""

import ast
import importlib.machinery
import os
import random
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from ...reference import BudgetExhausted
from ..targets.in_process import InProcessTarget
from ..targets.labels import checked_labels
from ..targets.replies import Refused, TargetError, one_line
from ..targets.spec import load
from .asked import CallEnd, CallSeen, Loaded, Rehearsal
from .confinement import confine, limit
from .constants import shares, whole_constants
from .counting import DecisionCounter
from .decision import Decision
from .decisions import rewrite
from .forks import in_fork
from .hints import hints

_DEPTH = 3  # of objects within objects that are searched for generators
_MOST_OBJECTS = 2_000
_MOST_BYTES = 4 << 30  # beyond what the import has taken


class RewritingLoader:
    """Rewrites every file of a folder as it is imported."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder.resolve())
        self.decisions: list[Decision] = []
        self.constants = set[int]()

    def install(self) -> None:
        """Makes the import system rewrite the folder's files."""
        plain = importlib.machinery.SourceFileLoader.source_to_code
        ours = self

        def compiled(loader: Any, data: Any, path: Any, **given: Any) -> Any:
            if not ours.own(path):
                return plain(loader, data, path, **given)
            tree, found = rewrite(bytes(data), str(path), len(ours.decisions))
            ours.decisions += found
            return compile(tree, path, "exec", dont_inherit=True)

        importlib.machinery.SourceFileLoader.source_to_code = compiled  # type: ignore[assignment]

    def own(self, path: Any) -> bool:
        """Whether a file lies in the folder."""
        return isinstance(path, str) and path.startswith(self._folder + os.sep)


def main(descriptor: str, record: str, scratch: str, spec: str) -> None:
    """Loads the target, then runs what it is sent until the connection is closed."""
    connection = Connection(int(descriptor))
    os.dup2(2, 1)  # what the target prints is no answer
    sys.path.insert(0, os.getcwd())
    layers = confine(Path(scratch), int(record))
    loader, counter = RewritingLoader(Path(scratch)), DecisionCounter()
    counter.install()
    loader.install()
    try:
        found = load(spec)
    except TargetError as error:
        connection.send(Loaded((), (), (), layers, str(error)))
        return
    trees = _trees(loader)
    constants = sorted({whole for tree in trees.values() for whole in whole_constants(tree)})
    parts = sorted({share for tree in trees.values() for share in shares(tree)})
    told = tuple(hint for file, tree in trees.items() for hint in hints(tree, Path(file).name))
    decisions = tuple(loader.decisions)
    connection.send(Loaded(decisions, tuple(constants), tuple(parts), layers, None, told))
    generators = held_generators(found, loader)  # before any fork: each pays for what it touches
    while True:
        try:
            asked: Rehearsal = connection.recv()
        except EOFError:
            return
        run = partial(_run, found, asked, counter, generators)
        connection.send_bytes(in_fork(run, str, asked.seconds))


def _trees(loader: RewritingLoader) -> dict[str, ast.Module]:
    """The syntax of each file that was imported."""
    modules = list(sys.modules.values())
    files = {str(file) for file in (getattr(m, "__file__", None) for m in modules)}
    return {file: ast.parse(Path(file).read_bytes()) for file in sorted(files) if loader.own(file)}


def _run(
    found: Any, asked: Rehearsal, counter: DecisionCounter, generators: Sequence[Any]
) -> list[CallSeen]:
    limit(asked.seconds, _MOST_BYTES)
    renew(generators, asked.noise)
    target = InProcessTarget(found, release=asked.release)
    seen = []
    for values, size in asked.calls:
        counter.clear()
        why = ""
        try:
            reply = target.ask(values, size)
            if asked.refuses is not None:
                shaped = asked.release.shaped(reply, values, size)
                checked_labels(shaped, values, size, asked.refuses, asked.release)
            end = CallEnd.ANSWERED
        except Refused:
            end = CallEnd.REFUSED
        except (TargetError, BudgetExhausted) as error:
            end, why = CallEnd.FAILED, one_line(str(error))
        seen.append(CallSeen(end, dict(counter.taken), dict(counter.sides), why))
    return seen


def renew(generators: Sequence[Any], noise: int) -> None:
    """Sets every generator that the target holds anew: forks would all draw the same noise."""
    random.seed(noise)
    np.random.seed(noise)  # noqa: NPY002 - the generator of the whole process
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(noise)
    for place, each in enumerate(generators):
        if isinstance(each, np.random.Generator):
            kind: Any = type(each.bit_generator)
            each.bit_generator.state = kind([noise, place]).state
        else:
            each.seed(noise + place)


def held_generators(found: Any, loader: RewritingLoader) -> list[Any]:
    """The generators that a target and the modules of its folder hold."""
    roots = [found]
    for module in list(sys.modules.values()):
        if loader.own(getattr(module, "__file__", None)):
            roots += list(vars(module).values())
    return list(_generators(roots))


def _generators(roots: list[Any]) -> Iterator[Any]:
    """The generators among some objects and in what these hold."""
    met, left = set[int](), [(each, _DEPTH) for each in roots]
    while left and len(met) < _MOST_OBJECTS:
        each, depth = left.pop()
        if id(each) in met:
            continue
        met.add(id(each))
        if isinstance(each, np.random.Generator | np.random.RandomState | random.Random):
            yield each
        elif depth and isinstance(each, list | tuple):
            left += [(one, depth - 1) for one in each[:_MOST_OBJECTS]]
        elif depth and isinstance(each, dict):
            left += [(one, depth - 1) for one in list(each.values())[:_MOST_OBJECTS]]
        elif depth and hasattr(each, "__dict__") and not isinstance(each, type):
            left += [(one, depth - 1) for one in vars(each).values()]


if __name__ == "__main__":
    main(*sys.argv[1:])
