"""A claim that is still to be filled in: what was read stands there, the rest as questions."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...reference.noise import FAMILIES
from ..kinds.reading import UNFILLED
from ..text import printable
from .fits import DROP, NOT_SUCH, scale_text
from .labels import FEW, WIDE, LabelAnswers

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


_NAMES = {"gaussian": '"gnmax" (Gaussian)', "laplace": '"lnmax" (Laplace)'}
_OTHER = '"report-noisy-max" (any noise)'
_NOISE = Key("noise", None, "its family and scale, as gaussian:40")


def draft_labels(classes: Key, teachers: Key) -> Draft:
    """A draft of labels, for `fill_labels`."""
    return Draft(
        "labels, the class with most votes under noise",
        "labels",
        [
            Key("name", None, "gnmax, lnmax, confident-gnmax or report-noisy-max"),
            _NOISE,
            classes,
            teachers,
        ],
    )


def fill_labels(draft: Draft, answers: LabelAnswers) -> None:
    """Fits what was answered, as far as it goes, into the keys of a draft."""
    name, _, *others = draft.keys
    name, noise = _noise_keys(answers, name)
    screen: list[Key] = []
    if answers.refused:
        asked = "some labels were -1: does it refuse queries without consensus?"
        name = Key("name", None, asked)
        if answers.refuses_by_votes():
            screen = _screen_keys(answers)
            if noise.fitted:
                told = 'fits: "confident-gnmax", by its refusals (-1) and its labels'
                name = Key("name", None, "", told)
    draft.keys = [name, noise, *others, *screen]
    draft.asked.append(f"{answers.labels:,} labels of {len(answers.counts)} histograms")


def _noise_keys(answers: LabelAnswers, name: Key) -> tuple[Key, Key]:
    """The keys `name` and `noise`, with the families that fit, or why none does."""
    labels, why = answers.answered, _no_fit(answers)
    if why is not None:
        return name, replace(_NOISE, more=[why])
    families = ["gaussian"] if answers.refused else list(FAMILIES)
    fits = {family: answers.fit_noise(family) for family in families}
    ranked = sorted(fits, key=lambda family: -fits[family].log_likelihood)
    top = fits[ranked[0]]
    if top.high >= 0.5 * WIDE * answers.leads[1]:
        why = f"labels do not follow the votes, up to a lead of {answers.leads[1]:,}"
    elif answers.misfit(ranked[0], top.best) < NOT_SUCH:
        why = f"none of {', '.join(families)} fits {labels:,} labels"
    if why is not None:
        return name, replace(_NOISE, more=[f"{why}: is it a noisy argmax of histograms?"])
    alike = [f for f in ranked if fits[f].log_likelihood >= top.log_likelihood - DROP]
    noises = [scale_text(family, fits[family]) for family in alike]
    more = [f"fits as well: {', '.join(noises[1:])}"] if noises[1:] else []
    names = dict.fromkeys(_NAMES.get(family, _OTHER) for family in alike)
    text = " or ".join(names)
    return (
        Key("name", None, "", f"fitted, by the noise: {text}"),
        Key("noise", None, "", f"fitted to {labels:,} labels: {noises[0]}", more),
    )


def _no_fit(answers: LabelAnswers) -> str | None:
    """Why no noise can be fitted to labels; None where it can."""
    if answers.odd != ():
        return answers.out_of_range
    told = [counts[:-1] for counts in answers.counts.values() if counts[:-1].sum() > 1]
    if answers.answered < FEW or answers.leads[1] == 0:
        return "too few labels to fit anything"
    if all((counts > 0).sum() == 1 for counts in told):
        return (
            f"each histogram repeated one label, down to a lead of {answers.leads[0]}: is there "
            "noise? are answers kept (caching = true)?"
        )
    return None


def _screen_keys(answers: LabelAnswers) -> list[Key]:
    threshold, scale = answers.fit_refusals()
    return [
        Key("threshold", None, "", f"fitted to refusals: {threshold.text}"),
        Key("threshold_noise", None, "", f"fitted to refusals: {scale_text('gaussian', scale)}"),
    ]
