"""What a target releases, found by asking it: labels, numbers, keys, tables, batches, anything."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...reference.tables import Rows
from ..optional_packages import lacking
from ..targets.replies import TargetError
from .asking import PARTITIONS, Asker
from .batches import draft_batches, known_batches
from .draft import Draft, Key, Known
from .keys import KeyAnswers, draft_keys
from .labels import LabelAnswers, are_labels, draft_labels, fill_labels, gather_labels
from .look import Look
from .numbers import (
    ADJACENCY,
    NumberAnswers,
    Sums,
    draft_counts,
    draft_sums,
    fill_noise,
    fill_sums,
    gather_counts,
    gather_sums,
)

_ROWS = ("rows", "frame", "df", "table")
_RECORDS = ("values", "records", "data", "samples", "gradients")
_LENGTHS = (10, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 20, 26, 43, 100)
_DIMENSIONS = (3, 1, 2, 4, 5, 8, 10, 16)
_TOTAL, _MOST_TRIED = 1000, 40
_MOST_CLASSES, _MOST_TOTAL = 1000, 10**7
_SEVERAL, _CLIMB = 8, 8
_FAILURES = 3  # in a row, after which a form of input is left
_INPUTS: tuple[Any, ...] = ({"rows": [3, 5, 8, 13]}, [3, 5, 8, 13], "text")


def recognise(asker: Asker, look: Look) -> Known:
    """Finds out what a target releases; raises as `ask`, TargetError where it takes no input."""
    if look.gives_batches:
        return known_batches(asker)
    for form in forms(look):
        known = _BY_FORM[form](asker, form)
        if known is not None:
            return known
    said = asker.refusals[-1] if asker.refusals else "nothing was answered"
    raise TargetError(
        f"{look.spec}: it takes none of the inputs that were tried, the last time: {said}"
    )


def forms(look: Look) -> Iterator[str]:
    """The forms of an input that are tried, those first that the name of the parameter suggests."""
    if look.called is None:  # a server or program takes each under another key
        yield from ("histogram", "votes", "one-hot", "counts", "records", "any")
        return
    if look.input in _ROWS:
        frames = [] if lacking("frames", "pandas") else ["pandas"]
        yield from ("rows", *frames, "records", "any")
    elif look.input in _RECORDS:
        yield from ("records", "counts", "rows", "any")
    else:
        yield from ("counts", "votes", "one-hot", "records", "rows", "any")


def likely(look: Look) -> Draft:
    """A draft by the signature alone, where nothing may be asked."""
    asker = Asker(lambda release: _never(), 0, 1.0)
    if look.gives_batches:
        return draft_batches()
    form = next(forms(look))
    if form == "rows":
        return _of_tables(["count"])
    if form == "records":
        return draft_sums(1, others=True)
    found = draft_labels(LabelAnswers(asker, form, 2), other_classes=True)
    found.what = f"labels, if {look.input or 'the input'} is votes; or counts with noise, if cells"
    open_keys = {"classes": "how many are there?", "teachers": "how many vote?"}
    found.keys = [Key(key.name, None, open_keys.get(key.name, key.note)) for key in found.keys]
    return found


def _never() -> Any:
    raise AssertionError("nothing is asked")


# -- histograms, and counts ----------------------------------------------------------------------


def _histogram(classes: int, total: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Votes (classes,) of which one class has six tenths, and the next one three."""
    votes = np.zeros(classes, dtype=np.int64)
    votes[1], votes[-1] = 3 * total // 10, total // 10
    votes[0] += total - votes.sum()
    return votes


def _taken(asker: Asker, form: str) -> tuple[int, int, list[Any]] | None:
    """Classes and votes that a target takes, with its reply; numbers in refusals are tried too."""
    lengths, totals, tried = list(_LENGTHS), [_TOTAL], set[tuple[int, int]]()
    asker.failures = 0
    while len(tried) < _MOST_TRIED and asker.failures < _FAILURES:
        left = ((c, t) for t in totals for c in lengths if (c, t) not in tried)
        one = next(left, None)
        if one is None:
            return None
        tried.add(one)
        before = len(asker.refusals)
        reply = asker.serves(form, _histogram(*one))
        if reply is not None:
            return *one, reply
        for said in asker.refusals[before:]:
            told = [int(number) for number in re.findall(r"\d{1,7}", said)]
            lengths[:0] = [n for n in told if 2 <= n <= _MOST_CLASSES and n not in lengths]
            if "shape" not in said:  # of arrays, which says nothing of votes
                totals += [n for n in told if 2 <= n <= _MOST_TOTAL and n not in totals]
    return None


def _counts(asker: Asker, form: str) -> Known | None:
    found = _taken(asker, form)
    if found is None:
        return None
    classes, total, reply = found
    more = asker.serves(form, _histogram(classes + 1, total))
    if are_labels(reply, classes):
        others = more is not None and are_labels(more, classes + 1)
        return _labels(asker, form, classes, total, others)
    if all(isinstance(one, list) and all(isinstance(k, dict) for k in one) for one in reply):
        answers = KeyAnswers(asker, form, classes)
        draft = draft_keys(classes, more is not None)
        return Known(draft, answers.gather, lambda: answers.fill(draft))
    if _width(reply) == classes:
        others = more is not None and _width(more) == classes + 1
        return _noisy_counts(asker, form, classes, others)
    return _one_number(asker, form, reply)


def _one_number(asker: Asker, form: str, reply: Sequence[Any]) -> Known | None:
    """A target that gives one number, which is no class of a histogram."""
    if _width(reply) != 1:
        return None
    if all(x == int(x) for x in np.ravel(reply)):
        known = _votes(asker, "votes")  # of which a histogram names too many classes
        if known is not None:
            return known
    single = asker.serves(form, np.array([500]))
    if single is None or _width(single) != 1:
        return None
    return _noisy_counts(asker, form, 1, others=False)


def _labels(asker: Asker, form: str, classes: int, total: int, others: bool) -> Known:
    totals = (2 * total, 3 * total + 7)
    any_total = any(asker.serves(form, _histogram(classes, other)) for other in totals)
    answers = LabelAnswers(asker, form, classes, None if any_total else total)
    draft = draft_labels(answers, others)
    if form in ("votes", "one-hot"):
        draft.tables = [
            "",
            "[inputs]",
            f'form = "{form}"  # read: it takes the vote of each teacher',
        ]
    return Known(draft, lambda: gather_labels(answers), lambda: fill_labels(draft, answers))


def _noisy_counts(asker: Asker, form: str, cells: int, others: bool) -> Known:
    answers = NumberAnswers(asker, form)
    draft = draft_counts(cells, others)
    return Known(draft, lambda: gather_counts(answers, cells), lambda: fill_noise(draft, answers))


def _votes(asker: Asker, form: str) -> Known | None:
    found = _taken(asker, form)
    if found is None or not are_labels(found[2], found[0]):
        return None
    classes, total, _ = found
    several = asker.ask(form, _histogram(classes, total), _SEVERAL)
    if not are_labels(several, classes):
        return None
    for _ in range(_CLIMB):  # votes for some of the classes alone are taken too
        if asker.serves(form, _histogram(classes + 1, total)) is None:
            return _labels(asker, form, classes, total, others=False)
        classes += 1
    return _labels(asker, form, classes, total, others=True)


def _width(reply: Sequence[Any]) -> int | None:
    """How many numbers each release has; None where they are none."""
    rows = [one if isinstance(one, list) else [one] for one in reply]
    widths = {len(row) for row in rows}
    numbers = all(
        isinstance(x, int | float) and not isinstance(x, bool) for row in rows for x in row
    )
    return widths.pop() if len(widths) == 1 and numbers else None


# -- records, rows, anything ---------------------------------------------------------------------


def _records(asker: Asker, form: str) -> Known | None:
    taken = []
    asker.failures = 0
    for d in _DIMENSIONS:
        if asker.failures >= _FAILURES:
            break
        reply = asker.serves(form, np.zeros((100, d)))
        if reply is not None and _width(reply) == d:
            taken.append(d)
        if len(taken) == 2:
            break
    if not taken:
        return None
    answers, sums = NumberAnswers(asker, form), Sums(taken[0])
    draft = draft_sums(taken[0], len(taken) > 1)
    return Known(draft, lambda: gather_sums(answers, sums), lambda: fill_sums(draft, answers, sums))


def _rows(asker: Asker, form: str) -> Known | None:
    users = np.arange(300)
    reply = asker.serves(form, Rows.of(users, users % len(PARTITIONS), np.ones(300)))
    for table in reply or []:
        each = table.values() if isinstance(table, dict) else table
        cells = (
            [one for one in each if isinstance(one, dict)] if isinstance(table, dict | list) else []
        )
        names = list(dict.fromkeys(name for one in cells for name in one if name != "partition"))
        if names:
            draft = _of_tables(names)
            if form == "pandas":
                draft.keys.append(Key("rows", "pandas", "read: it takes a frame"))
            return Known(draft)
    return None


def _of_tables(aggregates: Sequence[str]) -> Draft:
    noises = [f'{name} = {{noise = "?"}}' for name in aggregates]
    return Draft(
        "tables, a row for each partition",
        "tables",
        [
            Key("name", "table", "read: it takes rows of users"),
            ADJACENCY,
            Key("kept", None, "which rows of a user stay: uniform, first, last, any or all?"),
            Key("max_partitions", None, "of a user at most"),
            Key("max_per_partition", None, "rows of a user in a partition at most"),
            Key("partitions", None, "the public ones, or [mechanism.selection] of private ones"),
        ],
        tables=["", "[mechanism.aggregates]  # sums and means with lower and upper too", *noises],
    )


def _any(asker: Asker, form: str) -> Known | None:
    for given in _INPUTS:
        if asker.serves(form, given) is not None:
            return Known(_of_any())
    return None


def _of_any() -> Draft:
    return Draft(
        "replies without a law that a claim can name",
        "any",
        [Key("name", "any", "or a mechanism, if the target takes another form of input")],
        privacy=[
            "[privacy]  # of one release, from your specification",
            'epsilon = "?"',
            'delta = "?"',
        ],
        tables=[
            "",
            "[[pairs]]  # two neighbouring inputs, which the target takes",
            *(f'{side} = "?"' for side in ("here", "there")),
        ],
    )


_BY_FORM: dict[str, Callable[[Asker, str], Known | None]] = {
    "histogram": _counts,
    "counts": _counts,
    "votes": _votes,
    "one-hot": _votes,
    "records": _records,
    "rows": _rows,
    "pandas": _rows,
    "any": _any,
}
