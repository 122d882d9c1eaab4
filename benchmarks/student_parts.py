"""One part of `benchmarks.students`, measured at once and printed as a JSON object.

`python -m benchmarks.student_parts --data digits --only GNMax --json` in a clone: students of one
mechanism; `--only ensembles`, with `--teachers N ...` of other sizes: votes before a student. Adult
where DPASSAY_DATA names the folder of the data published with Wang et al. 2022.
"""

import argparse
import json
from dataclasses import asdict
from typing import Any

import numpy as np

from dpassay.attacks.inference.mitigations import over_seeds
from dpassay.reference import Laplace, NoisyArgmax
from dpassay.verifiers.commands.charged_rows import account_of
from dpassay.verifiers.inputs.log_file import AskedRows

from .long_runs import need_adult
from .noisy_accuracy import noisy_accuracy
from .students import DELTA, SEEDS, SETTINGS, measured, of_ensemble, task, votes

GAMMAS = (0.01, 0.05, 0.2, 1.0)
"""The ends of the range of Papernot et al. 2017, Figure 2, its own choice, and one between."""

ANSWERS = 100
"""Queries of which it is told what an ensemble's answers cost."""


def students(data: str, mechanism: str) -> dict[str, Any]:
    """Students of one mechanism by budget: means over seeds, with Student's intervals of 95 %.

    votes, noisy votes: how often the teachers are right on the student's own test records, without
    and with the noise of a query; gain, lead: seed by seed, the student less the one without
    unlabelled records, and less the votes. The teachers are the same in each seed.
    """
    by_budget = []
    for budget in SETTINGS[data].budgets:
        each = [measured(data, mechanism, budget, seed) for seed in range(SEEDS)]
        found = {key: np.array([one[key] for one in each], dtype=float) for key in each[0]}
        spread = {
            "student": found["accuracy"],
            "labelled alone": found["alone"],
            "gain": found["accuracy"] - found["alone"],
            "votes": found["votes"],
            "noisy votes": found["noisy votes"],
            "lead": found["accuracy"] - found["votes"],
            "labels right": found["right"],
            "commonest class": found["majority"],
            "released": found["released"],
            "bound": found["upper"],
        }
        means = {"epsilon": "epsilon", "queries": "asked", "labels": "given"}
        by_budget.append(
            {
                "budget": budget,
                **{name: float(found[key].mean()) for name, key in means.items()},
                **{name: asdict(over_seeds(values)) for name, values in spread.items()},
            }
        )
    plain = [measured(data, "baseline", 0.0, seed)["accuracy"] for seed in range(SEEDS)]
    return {
        "data": data,
        "mechanism": mechanism,
        "teachers": SETTINGS[data].teachers[-1],
        "delta": DELTA,
        "seeds": SEEDS,
        "without privacy": asdict(over_seeds(np.array(plain))),
        "students": by_budget,
    }


def ensembles(data: str, sizes: list[int]) -> dict[str, Any]:
    """Ensembles by number of teachers: how often right, their gap, and what answers cost.

    noisy: under Laplace noise of scale 1 / gamma, exactly; epsilon: what the first answers cost at
    their votes, by Theorem 3 of the paper, which is no guarantee, and whatever the votes.
    """
    found = []
    for teachers in sizes:
        noisy = [_noisy(data, teachers, gamma) for gamma in GAMMAS]
        one = of_ensemble(data, teachers)
        found.append(one | {"gap in votes": one["gap"] * teachers, "noisy": noisy})
    return {"data": data, "answers": ANSWERS, "delta": DELTA, "ensembles": found}


def _noisy(data: str, teachers: int, gamma: float) -> dict[str, float]:
    own, noise = votes(data, teachers), Laplace(1.0 / gamma)
    rows = AskedRows(own.histograms[:ANSWERS], None)
    at_votes = account_of(rows, NoisyArgmax(noise), DELTA)
    whatever = account_of(rows, NoisyArgmax(noise), DELTA, analysis="data-independent")
    return {
        "gamma": gamma,
        "right": noisy_accuracy(own, task(data).truths, noise),
        "epsilon": at_votes.epsilon,
        "epsilon whatever the votes": whatever.epsilon,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.student_parts", description=__doc__)
    parser.add_argument("--data", choices=SETTINGS, required=True)
    parts = ("ensembles", *SETTINGS["digits"].mechanisms)
    parser.add_argument("--only", choices=parts, required=True)
    parser.add_argument("--teachers", nargs="+", type=int, metavar="N", help="of ensembles")
    parser.add_argument("--json", action="store_true", required=True)
    asked = parser.parse_args()
    if asked.data == "adult":
        need_adult()
    if asked.only == "ensembles":
        found = ensembles(asked.data, asked.teachers or list(SETTINGS[asked.data].teachers))
    else:
        found = students(asked.data, asked.only)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
