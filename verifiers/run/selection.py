"""Which checks a run has, as `--check` and `--skip` choose.

What is left out keeps its share of `false_alarm`, unspent: the error rate of a run stays a bound,
and the thresholds of a check do not depend on which others stand beside it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..findings.note import Note
from ..inputs.input_error import OptionsError
from ..text import did_you_mean

ALWAYS = "input-contract"
"""The check that no run does without: a reply that breaks the contract is no evidence."""


@dataclass(frozen=True)
class Selection:
    """The checks of a run, out of `all_checks`; left_out: check id -> why it is not among them."""

    left_out: Mapping[str, Note] = field(default_factory=dict)
    all_checks: tuple[str, ...] = ()

    def keeps(self, check: str) -> bool:
        """Whether the run has a check, by its id."""
        return check not in self.left_out

    @property
    def warning(self) -> Note | None:
        """What a reader must know of a verdict that rests on some checks alone."""
        if not self.left_out:
            return None
        why, left, kept = next(iter(self.left_out.values())), list(self.left_out), self._chosen
        named = f"all but {', '.join(kept)}" if kept and len(kept) < len(left) else ", ".join(left)
        return Note(
            why.code,
            f"{why}: {named}; the verdict says nothing of what was left out, and its share of "
            "false_alarm is not given to the rest",
        )

    def nothing_applies(self, not_applicable: Collection[str]) -> Note | None:
        """The warning of a run that has none of the checks chosen."""
        if not self.left_out or not set(self._chosen) <= set(not_applicable):
            return None
        named = ", ".join(self._chosen)
        return Note("no-check-applies", f"none of the checks that were chosen applies: {named}")

    @property
    def _chosen(self) -> list[str]:
        return [name for name in self.all_checks if self.keeps(name) and name != ALWAYS]


def select(check: Sequence[str] = (), skip: Sequence[str] = (), *, of: Iterable[str]) -> Selection:
    """The checks named by `--check` and what every run needs, or all but those of `--skip`.

    of: the ids that there are to choose of, in the order of a report. Raises ValueError of one line
    for a name that is none, for both options at once, and for a run without the check that all
    others rest on.
    """
    if check and skip:
        raise OptionsError("--check and --skip: give one or the other")
    option, ids = "--check" if check else "--skip", tuple(of)
    for name in (*check, *skip):
        if name not in ids:
            near, allowed = did_you_mean(name, ids), ", ".join(ids)
            raise ValueError(f"{option} {name[:60]!r}{near}: expected one of {allowed}")
    if ALWAYS in skip:
        raise ValueError(f"--skip {ALWAYS}: it cannot be left out, as all others rest on it")
    kept = {ALWAYS, *check} if check else set(ids) - set(skip)
    why = Note("left-out-by-choice", f"left out by {option}")
    return Selection({name: why for name in ids if name not in kept}, ids)
