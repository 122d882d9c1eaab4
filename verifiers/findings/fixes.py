"""What a code means, and of those in `fixes.toml` what may lie behind it and how it is mended."""

import difflib
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from .codes import Code, codes


@cache
def fixes() -> dict[str, dict[str, Any]]:
    """What `fixes.toml` says, by code."""
    return tomllib.loads(files(__package__).joinpath("fixes.toml").read_text("utf-8"))


def class_in_words(code: Code) -> str:
    """The class of a code in words, with what a defect does and whether it is certain."""
    if code.severity is None:
        return code.what
    sure = "certain where it is reported" if code.proof else "a statistic with an error rate"
    return f"{code.what}: {code.severity.replace('-', ' ')}; {sure}"


def explained(code: Code) -> str:
    """The section of a code, whose heading is its id: paragraphs of Markdown, and a diff."""
    parts = [f"### {code.id}", f"**{code.title}** ({class_in_words(code)}). {code.sentence}"]
    fix = fixes().get(code.id)
    if fix is not None and "do" in fix:
        parts.append(f"What to do: {fix['do']}")
    elif fix is not None:
        beside = "\n".join(f"- `{other}`: {words}." for other, words in fix["beside"].items())
        parts += [
            f"Mistakes that give it: {fix['usual']}",
            f"```diff\n{fix['fix'].strip(chr(10))}\n```",
            f"What mending it costs: {fix['costs']}",
            f"Not to be mistaken for:\n\n{beside}",
        ]
    return "\n\n".join(parts)


def nearest(name: str) -> list[str]:
    """The codes that a name resembles, the nearest first, at most three."""
    return difflib.get_close_matches(name.lower(), codes(), 3, 0.5)
