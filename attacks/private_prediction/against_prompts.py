"""The adversaries against PromptPATE, whose teachers are prompts of one model."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...reference import Noise
from .adversaries import Adversary, Attack, WorldsQuery, asked
from .laws import check_records, tallied
from .models import PromptPate
from .prompting import adversaries as prompt_adversaries
from .prompting.prompts import Prompt, Queries
from .prompting.teachers import PromptTeacher, votes_of

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Prompted:
    """A model, the prompts that make teachers of it, and the queries (m,) with true labels (m,)."""

    teacher: PromptTeacher
    prompts: tuple[Prompt, ...]
    queries: Queries
    truths: Labels
    noise: Noise


def prompt_pate(prompted: Prompted, adversary: Adversary, seed: int, records: int = 1) -> Attack:
    """Each query with the votes of all prompts, some of which the adversary has replaced.

    The prompts that are replaced, as many as `records`, are those from which most is given away:
    for each query that is asked again and again its own, and the same for all natural queries.
    These try the four prompts of Chadha et al. 2024 (arXiv 2402.09403), appendix E.2, of which
    `all same` demands the label that gives away most. seed: of ties between queries to put into a
    prompt.
    """
    votes = votes_of(prompted.teacher, prompted.prompts, prompted.queries)
    check_records(records, len(votes))
    known = _Known(prompted.noise, votes, prompted.prompts[0].classes, records)
    if adversary.repeats:
        own = [_own(prompted, known, adversary, query) for query in range(votes.shape[1])]
        return Attack(adversary, adversary.adds, tuple(own), records)
    best: dict[str, tuple[float, str, list[tuple[int, Labels]]]] = {}
    for name, tried in _poisons(prompted, known, seed):
        totals = [known.total(teacher, altered) for teacher, altered in tried]
        most = np.argsort(-np.array(totals), kind="stable")[:records]
        total, kind = sum(totals[i] for i in most), name.partition(":")[0]
        if kind not in best or total > best[kind][0]:
            best[kind] = total, name, [tried[i] for i in most]
    attacks = tuple(
        Attack(adversary, *_replacing(known, name, replaced), records)
        for _, name, replaced in best.values()
    )
    chosen = max(zip(best.values(), attacks, strict=True), key=lambda each: each[0][0])[1]
    return replace(chosen, tried=attacks)


def _replacing(
    known: "_Known", name: str, replaced: list[tuple[int, Labels]]
) -> tuple[str, tuple[WorldsQuery, ...]]:
    """A prompt in words, and all queries where it stands in place of some teachers' own."""
    each = [
        known.asked(
            query,
            [int(known.votes[t, query]) for t, _ in replaced],
            [int(votes[query]) for _, votes in replaced],
        )
        for query in range(known.votes.shape[1])
    ]
    return f"the prompt `{name}`, at {_named([teacher for teacher, _ in replaced])}", tuple(each)


class _Known:
    """Votes (k, m) of all teachers, and what each moved vote of a query gives away."""

    def __init__(self, noise: Noise, votes: Labels, classes: int, records: int) -> None:
        self.noise, self.votes, self.records = noise, votes, records
        self.histograms = tallied(votes, classes)
        self._found: dict[tuple[int, ...], WorldsQuery] = {}

    def asked(self, query: int, givers: list[int], takers: list[int]) -> WorldsQuery:
        """The query where votes for `givers` become votes for `takers`."""
        there = self.histograms[query].copy()
        np.subtract.at(there, givers, 1)
        np.add.at(there, takers, 1)
        key = query, *there.tolist()
        if key not in self._found:
            worlds = PromptPate(self.noise, self.histograms[query], there, self.records)
            self._found[key] = asked(query, worlds)
        return self._found[key]

    def total(self, teacher: int, altered: Labels) -> float:
        """What all queries give away where a teacher votes `altered` (m,)."""
        moved = np.flatnonzero(self.votes[teacher] != altered)
        return sum(
            self.asked(int(q), [int(self.votes[teacher, q])], [int(altered[q])]).score
            for q in moved
        )

    def replaced(self, query: int, vote: int) -> WorldsQuery:
        """The query where teachers vote `vote` in place of others, one by one from the best."""
        left, givers, best = self.histograms[query].copy(), list[int](), None
        for _ in range(self.records):
            tried = [[*givers, int(giver)] for giver in np.flatnonzero(left)]
            each = [self.asked(query, some, [vote] * len(some)) for some in tried]
            place = max(range(len(each)), key=lambda i: each[i].score)
            best, givers = each[place], tried[place]
            left[givers[-1]] -= 1
        assert best is not None  # at least one record is altered
        return best


def _own(prompted: Prompted, known: _Known, adversary: Adversary, query: int) -> WorldsQuery:
    """A query whose own text, with its true or a wrong label, replaces teachers' examples."""
    truth, text = int(prompted.truths[query]), prompted.queries[query]
    if adversary.poisons:
        wrong = prompt_adversaries.wrong_label(known.histograms[query], truth)
        prompt = prompt_adversaries.poisoned(prompted.prompts[0], text, truth, wrong)
    else:
        prompt = prompt_adversaries.natural(prompted.prompts[0], text, truth)
    vote = int(prompted.teacher(prompt, prompted.queries[query : query + 1])[0])
    return known.replaced(query, vote)


def _poisons(
    prompted: Prompted, known: _Known, seed: int
) -> Iterator[tuple[str, list[tuple[int, Labels]]]]:
    """Names of prompts to try for all queries; teachers that may have one, and how they vote."""
    rng, any_prompt = np.random.default_rng(seed), prompted.prompts[0]
    about = known.histograms, prompted.queries, prompted.truths
    anyones = {
        "confident": prompt_adversaries.confident(any_prompt, *about, rng),
        "unconfident": prompt_adversaries.unconfident(any_prompt, *about, rng),
    }
    for label in range(any_prompt.classes):
        name = f"all same: {any_prompt.names[label]}"
        anyones[name] = prompt_adversaries.all_same(any_prompt, label)
    for name, prompt in anyones.items():
        votes = prompted.teacher(prompt, prompted.queries)
        yield name, [(teacher, votes) for teacher in range(len(prompted.prompts))]
    mapped = [prompt_adversaries.wrong_mapping(p, known.histograms) for p in prompted.prompts]
    yield "mapping", [(i, prompted.teacher(p, prompted.queries)) for i, p in enumerate(mapped)]


def _named(teachers: list[int]) -> str:
    """The altered teachers in words."""
    if len(teachers) == 1:
        return f"teacher {teachers[0]}"
    return f"teachers {', '.join(map(str, sorted(teachers)))}"
