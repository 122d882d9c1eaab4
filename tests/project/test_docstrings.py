"""A public method says what it does, or overrides one that is described."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("reference", "attacks", "verifiers")


def methods(tree: ast.AST) -> Iterator[tuple[str, bool]]:
    """Public methods of the public classes of a file, and whether each has a docstring."""
    for owner in ast.walk(tree):
        if isinstance(owner, ast.ClassDef) and not owner.name.startswith("_"):
            for node in owner.body:
                if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                    yield node.name, ast.get_docstring(node) is not None


@pytest.mark.slow("over half a second")
def test_undocumented_methods_override_a_documented_one():
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    found = {path: list(methods(ast.parse(path.read_text(encoding="utf-8")))) for path in paths}
    described = {name for of_file in found.values() for name, documented in of_file if documented}
    bare = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, of_file in found.items()
        for name, documented in of_file
        if not documented and name not in described and path.parent.name != "demos"
    ]
    assert not bare


def test_a_method_without_a_docstring_is_found():
    tree = ast.parse("class A:\n    def told(self):\n        return 1\n\n    def _own(self): ...\n")
    assert list(methods(tree)) == [("told", False)]
