"""What was measured, by setting and seed; as means over seeds, and as CSV."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .information import entropy, least_error, simple_least_error
from .over_seeds import OverSeeds, over_seeds
from .settings import HEADLINE

MEASURES = ("auroc", "tpr", "advantage", "success")
FIRST = "static max-pooling"
"""The only adversary of most settings."""


@dataclass(frozen=True)
class Found:
    """Results of parts by the name of their setting, one a seed."""

    of_setting: dict[str, list[dict[str, Any]]]

    @classmethod
    def of(cls, parts: Sequence[tuple[str, int]], results: Sequence[dict[str, Any]]) -> "Found":
        """Made from the parts, in any order."""
        found: dict[str, list[dict[str, Any]]] = {}
        for (name, _), result in zip(parts, results, strict=True):
            found.setdefault(name, []).append(result)
        return cls(found)

    def several(
        self, name: str, measure: str, reader: str = FIRST, rounds: int = HEADLINE
    ) -> OverSeeds:
        """A measure over the first rounds together."""
        return over_seeds(
            [one["readers"][reader]["until"][rounds - 1][measure] for one in self.of_setting[name]]
        )

    def single(
        self, name: str, measure: str, reader: str = FIRST, number: int | None = None
    ) -> OverSeeds:
        """A measure of one round, from 0; None: of the best of the first HEADLINE, by its AUROC."""
        values = []
        for one in self.of_setting[name]:
            rounds = one["readers"][reader]["single"][:HEADLINE]
            best = max(rounds, key=lambda each: each["auroc"])
            values.append((best if number is None else rounds[number])[measure])
        return over_seeds(values)

    def of_game(self, name: str, key: str) -> OverSeeds:
        """A figure that belongs to the game: utility, shared, majority, carried."""
        return over_seeds([one[key] for one in self.of_setting[name]])

    def readers(self, name: str) -> list[str]:
        """Adversaries of a setting."""
        return list(self.of_setting[name][0]["readers"])


@dataclass(frozen=True)
class Bounded:
    """Fano's bound for one adversary and seed, beside the error that it had; in nats and shares.

    simple, full: equations 7 and 6 at the information that the adversary is seen to have;
    cautious: equation 6 at the upper end of that information's interval; most: the upper end of
    the error's, of 95 % like the other.
    """

    entropy: float
    information: float
    simple: float
    full: float
    cautious: float
    error: float
    most: float

    @property
    def exceeds(self) -> bool:
        """Whether the bound is above the error, with the uncertainty of both allowed for."""
        return self.cautious > self.most


def bounds(found: Found, name: str, reader: str) -> list[Bounded]:
    """The bound of each seed, with information and error of the HEADLINE rounds together."""
    made = []
    for one in found.of_setting[name]:
        whole, values = entropy(one["prior"]), len(one["prior"])
        seen = one["readers"][reader]["information"]
        right = one["readers"][reader]["within"]["success"]
        left = whole - seen["value"]
        made.append(
            Bounded(
                whole,
                seen["value"],
                simple_least_error(left, values),
                least_error(left, values),
                least_error(whole - seen["high"], values),
                1.0 - right["value"],
                1.0 - right["low"],
            )
        )
    return made


def least_for_all(found: Found, name: str) -> float:
    """The mean over seeds of the least error of anybody who sees one release; 0 without noise."""
    errors = [
        least_error(entropy(one["prior"]) - one["carried"], len(one["prior"]))
        for one in found.of_setting[name]
    ]
    return float(np.mean(errors))


def rows(found: Found) -> str:
    """CSV: a row for each setting, adversary and number of rounds seen, single ones too."""
    lines = ["setting,adversary,rounds,measure,mean,deviation,seeds"]
    lines += [",".join(map(str, row)) for row in _rows(found)]
    return "\n".join(lines) + "\n"


def _rows(found: Found) -> Iterable[tuple[object, ...]]:
    for name, results in sorted(found.of_setting.items()):
        for reader in found.readers(name):
            for kind, label in (("single", "round {}"), ("until", "first {}")):
                for number in range(len(results[0]["readers"][reader][kind])):
                    for measure in MEASURES:
                        values = [one["readers"][reader][kind][number][measure] for one in results]
                        over = over_seeds(values)
                        shown = f"{over.mean:.5f}", f"{over.deviation:.5f}"
                        yield (name, reader, label.format(number + 1), measure, *shown, len(values))
