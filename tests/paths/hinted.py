"""Which functions an entry of a zoo is made of, and the hints at them."""

import ast
import types
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from dpassay.verifiers.paths.hints import hints

TESTS = Path(__file__).parents[1]
ZOOS = ("zoo", "numeric_zoo", "table_zoo")


def kinds_of(entry: Any) -> set[str]:
    """The kinds of the hints at the functions that an entry may call."""
    code = {(c.co_filename, c.co_firstlineno) for c in _code(entry, set())}
    return {
        kind
        for file in {name for name, _ in code}
        for kind, line in _hints_of(file)
        if (file, line) in code
    }


@cache
def _hints_of(file: str) -> list[tuple[str, int | None]]:
    """Kinds of the hints of a file, each with the first line of its function's code."""
    tree = ast.parse(Path(file).read_text())
    first = {
        node.lineno: min([node.lineno, *(each.lineno for each in node.decorator_list)])
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }
    return [(one.kind, first.get(one.function or 0)) for one in hints(tree, Path(file).name)]


def _code(one: Any, met: set[int]) -> Iterator[types.CodeType]:
    """The code of the zoos that an object leads to: by its names, its closure, its attributes."""
    if id(one) in met:
        return
    met.add(id(one))
    parts: list[Any] = []
    if isinstance(one, types.FunctionType):
        if not _is_ours(one.__code__.co_filename):
            return
        for code in _nested(one.__code__):
            yield code
            named = (one.__globals__.get(name) for name in code.co_names)
            parts += [n for n in named if isinstance(n, types.FunctionType | type)]
        parts += [cell.cell_contents for cell in one.__closure__ or ()]
        parts += one.__defaults__ or ()
    elif isinstance(one, partial):
        parts = [one.func, *one.args]
    elif isinstance(one, types.MethodType):
        parts = [one.__func__]
    elif isinstance(one, type):
        parts = [v for base in one.__mro__ if _of_zoo(base) for v in vars(base).values()]
    elif isinstance(one, list | tuple):
        parts = list(one[:50])
    elif _of_zoo(type(one)):
        parts = [type(one), *vars(one).values()]
    elif type(one).__name__ == "Entry":
        parts = list(vars(one).values())
    for part in parts:
        yield from _code(part, met)


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _nested(each)


def _is_ours(file: str) -> bool:
    return any(Path(file).is_relative_to(TESTS / zoo) for zoo in ZOOS)


def _of_zoo(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in ZOOS
