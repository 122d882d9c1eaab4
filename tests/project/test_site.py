"""The site: what the pages import is in its reference, and CI builds it."""

import importlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
REFERENCE = "\n".join(page.read_text() for page in (ROOT / "docs" / "api").glob("*.rst"))
MODULES = re.findall(r"automodule:: ([\w.]+)", REFERENCE)


def imported():
    """Modules of dpassay in the Python blocks of the pages."""
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for block in re.findall(
            r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE
        ):
            yield from re.findall(r"^from (dpassay[\w.]*) import", block, re.MULTILINE)


def test_what_pages_import_is_in_the_reference() -> None:
    """Catches an example with a module that the reference of the API does not show."""
    assert set(imported()) - set(MODULES) == set()


def test_the_packages_public_names_are_in_the_reference() -> None:
    """Catches a package left out; that each name of its `__all__` is shown, `make docs` sees to."""
    packages = {"dpassay.reference", "dpassay.attacks", "dpassay.verifiers"}
    assert packages <= set(MODULES)
    assert all(importlib.import_module(package).__all__ for package in packages)


def test_what_guards_main_builds_the_site() -> None:
    assert "make docs" in (ROOT / ".ci" / "run").read_text()
    assert "make docs" in (ROOT / ".github" / "workflows" / "site.yml").read_text()
