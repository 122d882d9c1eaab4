"""`python -m benchmarks.pinned_words`: test functions that compare with words of a sentence.

A test that compares with a literal of four words or more keeps the sentence from being edited.
Counted are comparisons, and what is handed to `startswith`, `index`, `match` and the like. The
tables of `tests/wording/`, which hold the sentences, are not.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from .long_runs import ROOT

LEAST_WORDS = 4
CALLS = {"startswith", "endswith", "index", "count", "match", "fullmatch", "search"}


def strings(node: ast.AST) -> Iterator[str]:
    """The string literals of an expression."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def compared(function: ast.AST) -> Iterator[str]:
    """The literals that a function compares with."""
    for node in ast.walk(function):
        if isinstance(node, ast.Compare):
            for part in (node.left, *node.comparators):
                yield from strings(part)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", None) in CALLS:
            for argument in node.args:
                yield from strings(argument)
        elif isinstance(node, ast.keyword) and node.arg == "match":
            yield from strings(node.value)


def is_sentence(text: str) -> bool:
    """Whether a literal has four words or more."""
    return sum(any(map(str.isalpha, word)) for word in text.split()) >= LEAST_WORDS


def pinned(tests: Path) -> Iterator[tuple[Path, str]]:
    """The test functions that compare with words, with their files."""
    for path in sorted(tests.rglob("*.py")):
        if "wording" in path.relative_to(tests).parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            named = isinstance(node, ast.FunctionDef) and node.name.startswith("test")
            if named and any(map(is_sentence, compared(node))):
                yield path.relative_to(tests), node.name  # type: ignore[attr-defined]


def main() -> None:
    """Prints how many there are, by folder, and their names where they are asked for."""
    found = list(pinned(ROOT / "tests"))
    if sys.argv[1:] == ["--names"]:
        print("\n".join(f"{path}::{name}" for path, name in found))
    folders = Counter(path.parts[0] for path, _ in found)
    print(", ".join(f"{folder} {number}" for folder, number in sorted(folders.items())))
    print(f"{len(found)} test functions compare with a literal of {LEAST_WORDS} words or more")


if __name__ == "__main__":
    main()
