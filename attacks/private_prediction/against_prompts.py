"""The adversaries against PromptPATE, whose teachers are prompts of one model."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...reference import Noise
from .adversaries import Adversary, Asked, Attack, asked
from .models import PromptPate
from .prompting import adversaries as prompt_adversaries
from .prompting.prompts import Prompt, Queries
from .prompting.teachers import PromptTeacher, votes_of
from .tally import tallied

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Prompted:
    """A model, the prompts that make teachers of it, and the queries (m,) with true labels (m,)."""

    teacher: PromptTeacher
    prompts: tuple[Prompt, ...]
    queries: Queries
    truths: Labels
    noise: Noise


def prompt_pate(prompted: Prompted, adversary: Adversary, seed: int) -> Attack:
    """Each query with the votes of all prompts, one of which the adversary has replaced.

    The prompt that is replaced is that from which most is given away: one for each query that is
    asked again and again, one for all natural queries. These try the four prompts of Chadha et al.
    2024 (arXiv 2402.09403), appendix E.2. seed: of ties between queries to put into a prompt.
    """
    votes = votes_of(prompted.teacher, prompted.prompts, prompted.queries)
    known = _Known(prompted.noise, votes, prompted.prompts[0].classes)
    if adversary.repeats:
        own = [_own(prompted, known, adversary, query) for query in range(votes.shape[1])]
        return Attack(adversary, adversary.adds, tuple(own))
    best, crafted = None, ""
    for name, place, prompt in _poisons(prompted, known, seed):
        altered = prompted.teacher(prompt, prompted.queries)
        for teacher in range(len(votes)) if place is None else (place,):
            total = known.total(teacher, altered)
            if best is None or total > best[0]:
                best = total, teacher, altered
                crafted = f"the prompt `{name}`, at teacher {teacher}"
    assert best is not None  # there is at least one prompt
    _, teacher, altered = best
    each = [known.asked(q, int(votes[teacher, q]), int(v)) for q, v in enumerate(altered)]
    return Attack(adversary, crafted, tuple(each))


class _Known:
    """Votes (k, m) of all teachers, and what each moved vote of a query gives away."""

    def __init__(self, noise: Noise, votes: Labels, classes: int) -> None:
        self.noise, self.votes = noise, votes
        self.histograms = tallied(votes, classes)
        self._found: dict[tuple[int, int, int], Asked] = {}

    def asked(self, query: int, giver: int, taker: int) -> Asked:
        """The query where one vote moves."""
        key = query, giver, taker
        if key not in self._found:
            here = self.histograms[query]
            there = here.copy()
            there[giver] -= 1
            there[taker] += 1
            self._found[key] = asked(query, PromptPate(self.noise, here, there))
        return self._found[key]

    def total(self, teacher: int, altered: Labels) -> float:
        """What all queries give away where a teacher votes `altered` (m,)."""
        moved = np.flatnonzero(self.votes[teacher] != altered)
        return sum(
            self.asked(int(q), int(self.votes[teacher, q]), int(altered[q])).score for q in moved
        )


def _own(prompted: Prompted, known: _Known, adversary: Adversary, query: int) -> Asked:
    """A query whose own text, with its true or a wrong label, replaces a teacher's example."""
    truth, text = int(prompted.truths[query]), prompted.queries[query]
    if adversary.poisons:
        wrong = prompt_adversaries.wrong_label(known.histograms[query], truth)
        prompt = prompt_adversaries.poisoned(prompted.prompts[0], text, truth, wrong)
    else:
        prompt = prompt_adversaries.natural(prompted.prompts[0], text, truth)
    vote = int(prompted.teacher(prompt, prompted.queries[query : query + 1])[0])
    givers = np.flatnonzero(known.histograms[query])
    return max((known.asked(query, int(g), vote) for g in givers), key=lambda found: found.score)


def _poisons(
    prompted: Prompted, known: _Known, seed: int
) -> Iterator[tuple[str, int | None, Prompt]]:
    """Names and prompts to try for all queries, and the teacher that a prompt belongs to."""
    rng, any_prompt = np.random.default_rng(seed), prompted.prompts[0]
    about = known.histograms, prompted.queries, prompted.truths
    yield "confident", None, prompt_adversaries.confident(any_prompt, *about, rng)
    yield "unconfident", None, prompt_adversaries.unconfident(any_prompt, *about, rng)
    for label in range(any_prompt.classes):
        yield (
            f"all same: {any_prompt.names[label]}",
            None,
            prompt_adversaries.all_same(any_prompt, label),
        )
    for place, prompt in enumerate(prompted.prompts):
        yield "mapping", place, prompt_adversaries.wrong_mapping(prompt, known.histograms)
