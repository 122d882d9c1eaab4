"""Some games of the study of gradients, played by themselves: their figures, with intervals.

`python -m benchmarks.gradients.some GAME... [--seeds N] [--json]`, with what `benchmarks.gradients`
needs; nothing is written, and nothing kept. A game is named as the column `setting` of
docs/results/gradients.csv has it, or is one of users, users alike, writers, strokes. Intervals are
Student's, of 95 %, of the mean over so many seeds.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from dpassay.attacks.gradients.defences.dp_sgd import DPSGD
from dpassay.reference.accounting.adjacency import Adjacency

from ..long_runs import DATA, need_adult
from .adult import adult
from .defended import DELTA
from .games import measured
from .information import most_advantage
from .over_seeds import over_seeds
from .people import PEOPLE, told_apart
from .rows import MEASURES, Found, bounds, least_for_all
from .settings import HEADLINE, SEEDS, Setting, settings


def figures(name: str, seeds: int) -> dict[str, Any]:
    """The figures of one game over seeds, as the command prints them."""
    play = told_apart if name in PEOPLE else measured
    found = Found({name: [play(name, seed) for seed in range(seeds)]})
    return {
        "game": name,
        **({} if name in PEOPLE else _of_adult(settings()[name])),
        "model_auroc": _over(found, name, lambda one: one["utility"]),
        "for_all": _for_all(found, name),
        "adversaries": {
            re.sub(r"\W", "_", reader): _of_reader(found, name, reader)
            for reader in found.readers(name)
        },
    }


def _of_adult(setting: Setting) -> dict[str, Any]:
    """The encoding; the correlation of income and sex; epsilons of one release under DP-SGD."""
    records = adult(DATA, setting.encoding)
    costs = {}
    if isinstance(setting.defence, DPSGD):
        for key, adjacency in (
            ("epsilon_add_remove", Adjacency.ADD_REMOVE),
            ("epsilon_substitution", Adjacency.REPLACE_ONE),
        ):
            costs[key] = setting.defence.epsilon(DELTA, 1, adjacency)
    correlation = float(np.corrcoef(records.labels, records.sensitive)[0, 1])
    return {"encoding": setting.encoding, "correlation": correlation, **costs}


def _for_all(found: Found, name: str) -> dict[str, float] | None:
    """What noise leaves of one release to anybody, an estimate; None without noise."""
    results = found.of_setting[name]
    if results[0].get("carried") is None:
        return None
    least = least_for_all(found, name)
    prior = float(np.mean([max(one["prior"]) for one in results]))
    return {
        "least_error": least,
        "most_advantage": most_advantage(least, prior),
        "error_by_the_prior": 1.0 - prior,
    }


def _of_reader(found: Found, name: str, reader: str) -> dict[str, Any]:
    """Measures of each round alone and of the first so many together, and Fano's least error.

    gained: what HEADLINE rounds together have over the first alone, in AUROC; beaten: in how many
    seeds they are above every single one; fano: as `rows.Bounded` has it, means over seeds.
    """
    first = found.of_setting[name][0]["readers"][reader]
    made = bounds(found, name, reader)
    several, singles = (
        [[each["auroc"] for each in one["readers"][reader][kind]] for one in found.of_setting[name]]
        for kind in ("until", "single")
    )
    pairs = [(u[HEADLINE - 1], s[:HEADLINE]) for u, s in zip(several, singles, strict=True)]
    return {
        "rounds": [_measures(found, name, reader, "single", n) for n in _places(first)],
        "together": [_measures(found, name, reader, "until", n) for n in _places(first)],
        "gained": _interval([together - single[0] for together, single in pairs]),
        "beaten": sum(together > max(single) for together, single in pairs),
        "fano": {
            part: float(np.mean([getattr(one, part) for one in made]))
            for part in ("entropy", "information", "simple", "full", "cautious", "error")
        },
    }


def _places(result: dict[str, Any]) -> range:
    return range(len(result["single"]))


def _measures(found: Found, name: str, reader: str, kind: str, number: int) -> dict[str, Any]:
    def of(measure: str) -> dict[str, Any]:
        return _over(found, name, lambda one: one["readers"][reader][kind][number][measure])

    return {measure: of(measure) for measure in MEASURES}


def _over(found: Found, name: str, figure: Callable[[dict[str, Any]], float]) -> dict[str, Any]:
    """A share over seeds, whose interval ends at 0 and 1."""
    over = _interval([figure(one) for one in found.of_setting[name]])
    return over | {"low": max(over["low"], 0.0), "high": min(over["high"], 1.0)}


def _interval(values: list[float]) -> dict[str, Any]:
    return asdict(over_seeds(values)) | {"values": values}


def _text(found: dict[str, Any]) -> Iterator[str]:
    """A table of a game: each round alone, the first HEADLINE and all together, and the rest."""
    yield f"{found['game']}: the model's AUROC {_shown(found['model_auroc'])}"
    if "correlation" in found:
        yield f"  income and sex correlate by {found['correlation']:.4f}"
    if "epsilon_add_remove" in found:
        yield (
            f"  one release costs epsilon {found['epsilon_add_remove']:.2f} (add-remove), "
            f"{found['epsilon_substitution']:.2f} (a record substituted) at delta {DELTA:g}"
        )
    for reader, one in found["adversaries"].items():
        yield f"  {reader:30}{'AUROC':>30}{'advantage':>30}{'TPR at 1 % FPR':>30}"
        rows = [(f"round {n}", each) for n, each in enumerate(one["rounds"], start=1)]
        for count in sorted({HEADLINE, len(rows)}):
            rows.append((f"{count} rounds together", one["together"][count - 1]))
        for name, each in rows:
            cells = (_shown(each[measure]) for measure in ("auroc", "advantage", "tpr"))
            yield f"    {name:28}" + "".join(f"{cell:>30}" for cell in cells)
        fano = one["fano"]
        yield f"    {HEADLINE} rounds gain {_shown(one['gained'])} AUROC over the first alone"
        yield f"    and are above every single one in {one['beaten']} seeds"
        yield f"    information: {fano['information']:.3f} of {fano['entropy']:.3f} nats"
        yield (
            f"    errors: {fano['error']:.4f}; at least {fano['full']:.4f} by equation 6 "
            f"({fano['cautious']:.4f} at the upper end of that information), "
            f"{fano['simple']:.4f} by equation 7"
        )
    if found["for_all"] is not None:
        yield (
            "  of one release, as estimated, anybody errs in "
            f"{found['for_all']['least_error']:.1%} or more, by the prior alone in "
            f"{found['for_all']['error_by_the_prior']:.1%}; advantage at most "
            f"{found['for_all']['most_advantage']:.3f}"
        )


def _shown(over: dict[str, Any]) -> str:
    return f"{over['mean']:.4f} ({over['low']:.4f} to {over['high']:.4f})"


def main() -> None:
    names = [*settings(), *PEOPLE]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="+", choices=names, metavar="GAME", help=", ".join(names))
    parser.add_argument("--seeds", type=int, choices=range(2, SEEDS + 1), default=SEEDS)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    if not set(asked.games) <= set(PEOPLE):
        need_adult()
    found = [figures(name, asked.seeds) for name in asked.games]
    if asked.json:
        print(json.dumps({"seeds": asked.seeds, "games": found}))
        return
    print(f"means over {asked.seeds} seeds, with Student's intervals of 95 %")
    for one in found:
        print("\n".join(_text(one)))


if __name__ == "__main__":
    main()
