"""A claim that is still to be filled in: what was read stands there, the rest as questions."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..kinds.reading import UNFILLED
from ..text import printable

_WIDTH = 100


@dataclass(frozen=True)
class Key:
    """One key of `[mechanism]`.

    Attributes:
        value: what the target showed of itself; None where the specification has to say it.
        note: where the value is from, or the question.
        fitted: the value that was fitted, as TOML, with its interval; empty where none was.
        more: lines of comment below it.
    """

    name: str
    value: Any = None
    note: str = ""
    fitted: str = ""
    more: Sequence[str] = ()

    @property
    def is_open(self) -> bool:
        """Whether it is still to be filled in."""
        return self.value is None

    def lines(self) -> list[str]:
        """The key in TOML, with its comment."""
        value = json.dumps(UNFILLED if self.value is None else self.value, ensure_ascii=False)
        parts = ["from your specification"] * self.is_open + [self.note, self.fitted]
        line, *rest = "; ".join(filter(None, parts)), *self.more
        found = [f"{self.name} = {value}  # {line}" if line else f"{self.name} = {value}"]
        if len(found[0]) > _WIDTH:
            first, *after = filter(None, parts)
            found = [f"{self.name} = {value}  # {first}"]
            rest = [*after, *rest]
        return [*found, *(f"#   {one}" for one in rest)]


def number_key(
    name: str, value: int, others: Sequence[int], takes: Callable[[int], bool], question: str
) -> Key:
    """The key of a number that inputs have: open where the target takes another one as well.

    others: that are tried until one is taken; takes: tries one.
    """
    tried = [other for other in dict.fromkeys(others) if other > 0 and other != value]
    for other in tried:
        if takes(other):
            return Key(name, None, f"it takes {other} too: {question}")
    return Key(name, value, f"read: it does not take {', '.join(map(str, tried))}")


def around(number: int) -> list[int]:
    """Numbers that a target may take beside this one."""
    return [number + 1, 2 * number, number - 1, number // 2]


@dataclass
class Draft:
    """What is known of a claim.

    Attributes:
        what: what the target releases, in words; kind: the kind of the claim, in a word.
        keys: of `[mechanism]`, in their order, the name first.
        privacy: the guarantee, as lines: commented out, but for a claim that is of it alone.
        tables: further lines of TOML.
        asked: what was asked, in words, a line each.
        stopped: why nothing more was asked, if it was not all that was meant to be.
    """

    what: str
    kind: str
    keys: list[Key]
    privacy: Sequence[str] = (
        "# [privacy]  # from your specification: what is claimed for how many queries",
        '# epsilon = "?"',
        '# delta = "?"',
        '# queries = "?"',
    )
    tables: Sequence[str] = ()
    asked: list[str] = field(default_factory=list)
    stopped: str | None = None

    @property
    def open_keys(self) -> list[str]:
        """The keys that are still to be filled in."""
        return [key.name for key in self.keys if key.is_open]

    def text(self, target: str, called: str | None) -> str:
        """The file; target: without credentials; called: how it is called, where that is known."""
        head = [
            f"The claim of {target}, begun by dpassay init.",
            "",
            f"Read: {called or 'a server or program, which shows no signature'}; {self.what}.",
            *(f"Asked: {line}." for line in self.asked),
            *([f"Stopped: {self.stopped}."] if self.stopped else []),
            "",
            f'What says "{UNFILLED}" is to be filled in by hand, from the specification of the',
            "deployment. Fitted values stand in comments: a claim that is fitted to a deployment",
            "fits whatever that does, and proves nothing about it.",
        ]
        fitted = [
            "# fitted = true  # say so where you fill in fitted values: every run then warns of it"
        ]
        mechanism = [line for key in self.keys for line in key.lines()]
        lines = [
            *(f"# {line}".rstrip() for line in head),
            "",
            "[mechanism]",
            *mechanism,
            *(fitted if any(key.fitted for key in self.keys) else []),
            "",
            *self.privacy,
            *self.tables,
        ]
        return "".join(f"{printable(line)}\n" for line in lines)


@dataclass(frozen=True)
class Known:
    """A target that was recognised.

    Attributes:
        draft: of its claim, before anything is fitted.
        gather: asks for more; raises as `Asker.ask`.
        fill: fits what was answered into the draft, however much that is.
    """

    draft: Draft
    gather: Callable[[], None] = lambda: None
    fill: Callable[[], None] = lambda: None
