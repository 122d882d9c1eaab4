"""What a target releases, found by asking it: labels, numbers, keys, tables, batches, anything."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..optional_packages import lacking
from ..targets.replies import TargetError, shown
from .asking import FORMS, Asker
from .draft import Draft, Key, Known, around, draft_labels, fill_labels, number_key
from .keys import (
    KeyAnswers,
    are_keys,
    draft_batches,
    draft_keys,
    draft_tables,
    known_batches,
    known_tables,
)
from .labels import LabelAnswers, are_labels, gather_labels
from .look import Look
from .numbers import (
    NumberAnswers,
    Sums,
    draft_count,
    draft_counts,
    draft_sums,
    fill_noise,
    fill_sums,
    gather_counts,
    gather_sums,
    width,
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
    if not asker.refusals and asker.body is not None:
        keys = dict.fromkeys(FORMS[form].key for form in forms(look))
        places = ", ".join(f"{{{{{key}}}}}" for key in keys)
        raise TargetError(
            f"http.body = {shown(asker.body)}: expected one of {places} in it: a claim of other "
            "inputs is begun by hand",
            code="target-option-wrong",
        )
    said = asker.refusals[0] if asker.refusals else "nothing was answered"
    raise TargetError(
        f"{look.spec}: it takes none of the inputs that were tried, the first time: {said}"
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
    """A draft by the signature alone, where nothing may be asked: all is left open."""
    form = "batches" if look.gives_batches else next(forms(look))
    if form == "batches":
        found = draft_batches()
    elif form == "rows":
        found = draft_tables([])
    elif form == "records":
        found = draft_sums(Key("dimensions", None, "how many numbers has a record?"))
    else:
        teachers = Key("teachers", None, "how many vote?")
        found = draft_labels(Key("classes", None, "how many are there?"), teachers)
        given = look.input or "the input"
        found.what = f"labels, if {given} is votes; or counts with noise, if cells"
    found.keys = [
        key if key.is_open else Key(key.name, None, f"{key.value}, by its signature?")
        for key in found.keys
    ]
    return found


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

    def takes(cells: int) -> bool:
        more = asker.serves(form, _histogram(cells, total))
        return more is not None and width(more) == cells

    if are_labels(reply, classes):
        return _labels(asker, form, classes, total)
    if reply == [[]]:  # as with keys of which none reached a threshold
        reply = asker.serves(form, np.full(classes, _MOST_TOTAL)) or []
    if any(reply) and are_keys(reply):
        return _keys(asker, form, classes, total)
    if width(reply) == classes:
        question = "how many cells?"
        draft = draft_counts(number_key("cells", classes, around(classes), takes, question))
        return _noisy_numbers(asker, form, classes, draft)
    return _one_number(asker, form, reply)


def _keys(asker: Asker, form: str, cells: int, total: int) -> Known:
    def takes(other: int) -> bool:
        return asker.serves(form, _histogram(other, total)) is not None

    answers, question = KeyAnswers(asker, form, cells), "how many keys may there be?"
    draft = draft_keys(number_key("cells", cells, around(cells), takes, question))
    return Known(draft, answers.gather, lambda: answers.fill(draft))


def _one_number(asker: Asker, form: str, reply: Sequence[Any]) -> Known | None:
    """A target that gives one number, which is no class of a histogram."""
    if width(reply) != 1:
        return None
    if all(x % 1 == 0 for x in np.ravel(reply)):
        known = _votes(asker, "votes")  # of which a histogram names too many classes
        if known is not None:
            return known
    single = asker.serves(form, np.array([500]))
    if single is None or width(single) != 1:
        return None
    return _noisy_numbers(asker, form, 1, draft_count())


def _labels(asker: Asker, form: str, classes: int, total: int) -> Known:
    def takes(other: int) -> bool:
        reply = asker.serves(form, _histogram(other, total)) if other > 1 else None
        return reply is not None and are_labels(reply, other)

    def takes_total(other: int) -> bool:
        if asker.serves(form, _histogram(classes, other)) is None:
            return False
        if other >= 2 * total:
            answers.total = None
        return True

    # of votes that name fewer classes nothing tells how many there are
    lengths = [classes + 1, 2 * classes] if form == "votes" else around(classes)
    answers = LabelAnswers(asker, form, classes, total)
    draft = draft_labels(
        number_key("classes", classes, lengths, takes, "how many are there?"),
        number_key(
            "teachers",
            total,
            [2 * total, 3 * total + 7, total - 1, total // 2, total + 1],
            takes_total,
            "how many vote?",
        ),
    )
    if form in ("votes", "one-hot"):
        draft.tables = [
            "",
            "[inputs]",
            f'form = "{form}"  # read: it takes the vote of each teacher',
        ]
    return Known(draft, lambda: gather_labels(answers), lambda: fill_labels(draft, answers))


def _noisy_numbers(asker: Asker, form: str, cells: int, draft: Draft) -> Known:
    answers = NumberAnswers(asker, form)
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
            break
        classes += 1
    return _labels(asker, form, classes, total)


# -- records, rows, anything ---------------------------------------------------------------------


def _records(asker: Asker, form: str) -> Known | None:
    def takes(d: int) -> bool:
        reply = asker.serves(form, np.zeros((100, d)))
        return reply is not None and width(reply) == d

    asker.failures = 0
    d = next((d for d in _DIMENSIONS if asker.failures < _FAILURES and takes(d)), None)
    if d is None:
        return None
    answers, sums = NumberAnswers(asker, form), Sums(d)
    question = "how many numbers has a record?"
    draft = draft_sums(number_key("dimensions", d, around(d), takes, question))
    return Known(draft, lambda: gather_sums(answers, sums), lambda: fill_sums(draft, answers, sums))


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
    "rows": known_tables,
    "pandas": known_tables,
    "any": _any,
}
