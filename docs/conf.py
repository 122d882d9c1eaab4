"""The site: these pages, a reference of the Python API, and the project's own files.

`make docs` builds it; a link or an anchor that leads nowhere ends the build, and so does a public
name that is not in the reference or has no docstring.
"""

import importlib
import os
import re
import sys
from pathlib import Path
from types import FunctionType
from typing import Any

from numpy.typing import ArrayLike
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.typing import stringify_annotation

DOCS = Path(__file__).parent
ROOT = DOCS.parent

sys.path.insert(0, str(DOCS))
from codes_on_pages import added_to  # noqa: E402 - beside this file, which Sphinx runs

project = "dpassay"
copyright = "the dpassay developers, Apache-2.0"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_static"]
root_doc = "index"

html_theme = "furo"
html_title = "dpassay"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False

myst_heading_anchors = 4  # named as GitHub names them
suppress_warnings = ["myst.header"]  # a page may begin with a table

autodoc_default_options = {"members": True}
autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
add_module_names = False
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
default_role = "code"  # docstrings have single backquotes
smartquotes = False
highlight_language = "none"  # what names no language is a command
pygments_style = "friendly"

# Files beside docs/ that have a page of the site; what stands in docs/project leads to them.
PROJECT = {
    "README.md": "index",
    "ARCHITECTURE.md": "project/architecture",
    "CONTRIBUTING.md": "project/contributing",
    "CHANGELOG.md": "project/changelog",
}
LINK = re.compile(r"(\]\()([^)\s:]+?)(#[^)\s]*)?\)")
FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
WIDE = r"~?(?:numpy\.)?ndarray\[~?tuple\[~?(?:typing\.)?Any, \.\.\.\], ~?(?:numpy\.)?dtype\["
ARRAYS = [(re.compile(WIDE + r"~?(?:numpy\.)?(\w+)\]\]"), r"NDArray[\1]")] + [
    (re.compile(re.escape(stringify_annotation(ArrayLike, mode))), "ArrayLike")
    for mode in ("fully-qualified", "smart")
]


def _relinked(text: str, page: Path, shown: Path) -> str:
    """Text of the file `page` as the page `shown`, whose links lead to pages of the site."""

    def moved(link: re.Match[str]) -> str:
        target = Path(os.path.normpath(page.parent / link[2]))
        name = str(target.relative_to(ROOT)) if target.is_relative_to(ROOT) else ""
        if name in PROJECT:
            target = DOCS / f"{PROJECT[name]}.md"
        return f"{link[1]}{os.path.relpath(target, shown.parent)}{link[3] or ''})"

    parts = FENCE.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(moved, part) for part in parts)


def _contents(text: str, folder: str, shown: Path) -> str:
    """The pages of a folder that an index links to, in its order, as the site's own contents.

    Those in a folder with an index of its own stand there.
    """
    pages = re.findall(rf"\]\(({folder}(?:[\w-]+/)*[\w-]+)\.(?:md|rst)\)", FENCE.sub("", text))
    links = [
        page
        for page in dict.fromkeys(pages)
        if "/" not in page
        or page.endswith("/index")
        or not (shown.parent / page).with_name("index.md").exists()
    ]
    return "\n".join(["", "```{toctree}", ":hidden:", "", *links, "```", ""])


def _read(app: Sphinx, docname: str, source: list[str]) -> None:
    shown = DOCS / f"{docname}.md"
    if not shown.exists():
        return  # a page of the API
    files = {doc: ROOT / name for name, doc in PROJECT.items() if doc != "index"}
    page = files.get(docname, shown)
    text = page.read_text() + added_to(page)
    source[0] = _relinked(text, page, shown)
    if shown.name in ("index.md", "map.md"):
        source[0] += _contents(text, "map/" if shown.name == "map.md" else "", shown)


def _plain(*arguments: Any) -> None:
    """Docstrings are prose: bars, stars and indented lines have no meaning of reStructuredText.

    But lines that stand apart and are indented are code.
    """
    lines, code, before = arguments[-1], False, ""
    for i, line in enumerate(lines):
        code = line.startswith(" ") and (code or not before)
        if code and not before and i > 1 and lines[i - 2].endswith(":"):
            lines[i - 2] += ":"
        if not code and line:
            parts = re.split(r"(`[^`]*`)", line.lstrip())
            lines[i] = "".join(
                part if part.startswith("`") else re.sub(r"([|*])", r"\\\1", part) for part in parts
            )
        before = line.strip()


def _short(*arguments: Any) -> tuple[str | None, str | None]:
    """Arrays by the names that the code has for them."""

    def named(text: str | None) -> str | None:
        for wide, narrow in ARRAYS:
            text = text and wide.sub(narrow, text)
        return text

    return named(arguments[-2]), named(arguments[-1])


def _public() -> dict[str, list[str]]:
    """Module -> its public names, of all modules in docs/api."""
    pages = "\n".join(page.read_text() for page in sorted((DOCS / "api").glob("*.rst")))
    names = re.findall(r"automodule:: ([\w.]+)", pages)
    return {name: list(getattr(importlib.import_module(name), "__all__", ())) for name in names}


def _described(found: object) -> bool:
    """Whether a class or a function has a docstring that somebody wrote, and did not inherit."""
    if not isinstance(found, type | FunctionType):
        return True  # a constant or a type, of which docs/api has the words
    words = vars(found).get("__doc__") if isinstance(found, type) else found.__doc__
    return bool(words) and not str(words).startswith(f"{found.__name__}(")  # as dataclasses do


def _all_public_names_are_there(app: Sphinx, env: Any) -> None:
    """Warns, so that the build fails, of a name of `__all__` that has no entry."""
    known = set(env.domains.python_domain.objects)
    for module, names in _public().items():
        for name in names:
            found = getattr(importlib.import_module(module), name)
            if f"{module}.{name}" not in known or not _described(found):
                logging.getLogger(__name__).warning(
                    "%s.%s is public, and has no docstring or no place in docs/api", module, name
                )


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    for module, names in _public().items():  # some load late, and are looked up here once
        loaded = importlib.import_module(module)
        vars(loaded).update({name: getattr(loaded, name) for name in names})
    app.connect("source-read", _read)
    app.connect("autodoc-process-docstring", _plain)
    app.connect("autodoc-process-signature", _short)
    app.connect("env-check-consistency", _all_public_names_are_there)
