"""The table of codes and the sources that raise them say the same, and tests raise each of them.

Catches a code that is misspelt, one that nothing raises, one without an explanation or a page of
the site, and one that no test has seen.
"""

import ast
import importlib.util
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from dpassay.verifiers.findings.codes import Code, CodeClass, Severity, codes
from dpassay.verifiers.kinds import kinds

ROOT = Path(__file__).parents[2]
KEBAB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
MOST_WORDS = 6

TABLES = {"WORDS", "_CODES", "_UNPAID"}
"""Tables whose values are codes, or tuples that begin with one."""

spec = importlib.util.spec_from_file_location("site", ROOT / "docs" / "codes_on_pages.py")
assert spec is not None
assert spec.loader is not None
site = importlib.util.module_from_spec(spec)
spec.loader.exec_module(site)


@cache
def modules(folder: str) -> dict[Path, ast.Module]:
    """The files below a folder, read."""
    return {path: ast.parse(path.read_text()) for path in sorted((ROOT / folder).rglob("*.py"))}


def literals(node: ast.AST, named: dict[str, str]) -> Iterator[str]:
    """The strings of an expression, also those behind a name of the module."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
        elif isinstance(part, ast.Name) and part.id in named:
            yield named[part.id]


def named_strings(tree: ast.Module) -> dict[str, str]:
    """Names of a module that stand for a string."""
    return {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }


def is_code(target: ast.AST) -> bool:
    """Whether a name or attribute that gets a value is one for a code."""
    return (isinstance(target, ast.Name) and target.id == "code") or (
        isinstance(target, ast.Attribute) and target.attr == "code"
    )


def given_codes(tree: ast.Module) -> Iterator[ast.AST]:
    """Expressions that are used as codes: of notes, of findings, of exceptions, and in tables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id == "Note" and node.args:
                yield node.args[0]
            yield from (word.value for word in node.keywords if word.arg == "code")
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            yield from assigned_codes(node)


def assigned_codes(node: ast.Assign | ast.AnnAssign) -> Iterator[ast.AST]:
    """Those that a statement gives to a name for a code, or lists in a table."""
    assert node.value is not None
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if is_code(target):
            yield node.value
        elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            both = zip(target.elts, node.value.elts, strict=False)  # one may be unpacked
            yield from (value for each, value in both if is_code(each))
        elif isinstance(target, ast.Name) and target.id in TABLES:
            for value in getattr(node.value, "values", []):
                yield value.elts[0] if isinstance(value, ast.Tuple) else value


@cache
def raised() -> dict[str, set[str]]:
    """Codes that the sources give, with the files that do."""
    found: dict[str, set[str]] = {}
    for path, tree in modules("verifiers").items():
        named = named_strings(tree)
        for node in given_codes(tree):
            for text in literals(node, named):
                if KEBAB.fullmatch(text) and ("-" in text or text in codes()):
                    found.setdefault(text, set()).add(str(path.relative_to(ROOT)))
    return found


@cache
def strings(folder: str, *, but: Path | None = None) -> set[str]:
    """All strings that stand in the files below a folder, but for one file or those below one."""
    return {
        node.value
        for path, tree in modules(folder).items()
        if but is None or not path.is_relative_to(but)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


@pytest.mark.slow("over half a second")
def test_every_code_in_the_sources_is_in_the_table() -> None:
    unknown = {code: files for code, files in raised().items() if code not in codes()}
    assert not unknown


@pytest.mark.slow("over half a second")
def test_every_row_of_the_table_is_in_the_sources() -> None:
    assert not set(codes()) - strings("verifiers")


@pytest.mark.slow("over half a second")
def test_the_search_finds_codes_where_they_stand() -> None:
    """In a note, behind a name, as one of two, beside a diagnosis, in a class and in a table."""
    assert {
        "no-privacy-claimed",
        "too-few-rows",
        "threshold-too-high",
        "account-falls",
        "target-failed",
        "seeds-come-again",
    } <= set(raised())


def says_what_it_means(code: Code) -> bool:
    """Whether the fields of a row are of the form that reports and pages take for granted."""
    defect = code.what == "defect"
    return (
        KEBAB.fullmatch(code.id) is not None
        and len(code.id.split("-")) <= MOST_WORDS
        and code.what in get_args(CodeClass)
        and (code.severity in get_args(Severity) if defect else not code.severity)
        and (defect or not code.proof)
        and code.title[:1].isupper()
        and not code.title.endswith(".")
        and code.sentence[:1].isupper()
        and code.sentence.endswith(".")
    )


def test_a_row_says_what_its_code_means() -> None:
    assert [code for code in codes().values() if not says_what_it_means(code)] == []


@pytest.mark.slow("over half a second")
def test_a_row_names_checks_on_whose_pages_it_is_explained() -> None:
    """Once on each: catches an anchor that is there twice, or not at all."""
    checks = {check for kind in kinds() for check in kind.checks.ids}
    index = site.added_to(site.ALL_CODES)
    pages = {page for code in codes().values() for page in site.explained_on(code)}
    texts = {page: page.read_text() + site.added_to(page) for page in pages}
    wrong = []
    for code in codes().values():
        named = set(code.checks) <= checks and (code.checks or code.what == "input")
        told = [texts[page] for page in site.explained_on(code)]
        once = all(page.count(f"\n### {code.id}\n") == 1 for page in told)
        if not (
            named
            and once
            and all(code.sentence in page for page in told)
            and f"#{code.id})" in index
        ):
            wrong.append(code.id)
    assert wrong == []


FOLDERS = {"tallies": "tally", "outputs": "lawless", "replies": "same_as"}
"""Where a kind stands under `kinds/`, if not under its name."""

OF_NUMBERS = ("numbers", "keys", "tables", "tallies")
"""Kinds whose checks are in part those of numbers."""

ANYWHERE = ("run", "targets", "claims", "evidence")


def is_of_kinds_that_find_it(code: Code) -> bool:
    """Whether a defect names the kinds whose checks raise it; what judges logs is no part of it."""
    having = {
        kind.name
        for kind in kinds()
        for entry in kind.checks.entries
        if entry.absent is None and entry.id in code.checks
    }
    raising = {
        kind.name
        for kind in kinds()
        if code.id
        in strings(
            f"verifiers/kinds/{FOLDERS.get(kind.name, kind.name)}",
            but=ROOT / "verifiers/kinds/labels/logs",
        )
    }
    of = having if code.kinds is None else set(code.kinds)
    anywhere = any(code.id in strings(f"verifiers/{room}") for room in ANYWHERE)
    possible = raising | (set(OF_NUMBERS) if "numbers" in raising else set())
    return raising & having <= of <= having and (anywhere or of <= possible)


@pytest.mark.slow("over half a second")
def test_a_defect_is_of_the_kinds_that_can_find_it() -> None:
    """Catches one that a check raises and no list of its kind has, and one that none can raise."""
    defects = [code for code in codes().values() if code.what == "defect"]
    assert [code.id for code in defects if not is_of_kinds_that_find_it(code)] == []


@pytest.mark.slow("over half a second")
def test_every_code_is_in_a_test() -> None:
    unseen = set(codes()) - strings("tests", but=Path(__file__).resolve())
    assert not unseen
