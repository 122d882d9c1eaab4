"""Adversaries against four private prediction mechanisms, as bars: theory, exact cost, audit.

`python -m benchmarks.private_prediction [--data NAME ...]` from the repository's root, in a clone
with the extras `bench` and `audit`, draws what Chadha et al. 2024 (arXiv 2402.09403) draw in
Figures 3, 4 and 5, on records that packages carry; it writes docs/results/private-prediction.md,
.csv and three .svg. With `--json` it prints results and orderings instead, and writes no page: some
three minutes for digits. Stopped, it goes on where it was when it is run again.
"""

import argparse
import csv
import json
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from dpassay.attacks.private_prediction.adversaries import Adversary
from dpassay.attacks.private_prediction.audited import Terms
from dpassay.attacks.private_prediction.deployments import Mechanism, PredictionDeployment
from dpassay.attacks.private_prediction.neighbours import Source
from dpassay.attacks.private_prediction.trainings import trained_votes
from dpassay.reference import parse_noise
from dpassay.reference.ensembles.records import Task, digits, mnist, table
from dpassay.reference.parallel.workers import open_executor
from dpassay.verifiers.commands.audit_mechanism import Work, audit_mechanism

from . import orderings, vote_leads
from .long_runs import DATA, KEPT, Part, add_workers, carried_out, workers
from .pages import RESULTS, head, write_page
from .private_prediction_bars import DELTA, KINDS, NAMES, ORDERS, TEACHERS, draw, figures
from .vote_leads import Lead, lead_of

EXPERIMENTS = 10**8
ALPHA, SAMPLING = 0.05, 0.2


class Setting(NamedTuple):
    """A deployment's size: teachers and noise of PATE, CaPC and PromptPATE, then of Private-kNN.

    queries: that are asked, and how often one is repeated; trainings: for the laws of PATE's votes.
    """

    teachers: int
    noise: str
    neighbours: int
    neighbours_noise: str
    queries: int = 100
    trainings: int = 200


SETTINGS = {
    "digits": Setting(50, "gaussian:8", 50, "gaussian:7.5"),
    "mnist": Setting(250, "gaussian:40", 100, "gaussian:15"),
    "adult": Setting(250, "gaussian:40", 200, "gaussian:30"),
}
KINDS_OF_TABLE = ("theory", "exact", "region", "mean_exact")


@cache
def task(data: str) -> Task:
    queries = SETTINGS[data].queries
    if data == "digits":
        return digits().with_queries(queries)
    if data == "mnist":
        return mnist().with_queries(queries)
    return table(DATA / "adult_income_train.csv.gz", "income", queries)


def deployed(data: str, mechanism: Mechanism) -> PredictionDeployment:
    setting = SETTINGS[data]
    neighbours = mechanism == "private-knn"
    return PredictionDeployment(
        mechanism,
        task(data),
        parse_noise(setting.neighbours_noise if neighbours else setting.noise),
        setting.neighbours if neighbours else setting.teachers,
        "nearest",
        setting.trainings,
        SAMPLING,
        0,
    )


def measured(data: str, mechanism: Mechanism, adversary: str, source: Source) -> dict[str, Any]:
    """What `dpassay audit --mechanism --json` says of one adversary."""
    deployment, setting = deployed(data, mechanism), SETTINGS[data]
    terms = Terms(ORDERS, setting.queries, EXPERIMENTS, ALPHA, 0)
    with open_executor() as here:
        work = Work(here, KEPT / "trainings", anew=False)
        found = audit_mechanism(deployment, [(Adversary(adversary), source)], terms, DELTA, work)
    return dict(found.public()["audits"][0])


def lead(data: str, mechanism: Mechanism) -> list[float]:
    """How far the votes of a mechanism lead, and how often the altered one changes."""
    with open_executor() as here:

        def train(ensemble: Any, added: Any) -> Any:
            return trained_votes(ensemble, added, KEPT / "trainings", here)

        return list(lead_of(deployed(data, mechanism).attacked(Adversary.POIS_MINQ, train, "test")))


def parts_of(data: list[str]) -> list[Part]:
    parts: list[Part] = [
        (name, mechanism, adversary.value, "test")
        for name in data
        for mechanism in (*TEACHERS, "private-knn")
        for adversary in Adversary
    ]
    last = Adversary.POIS_MINQ.value
    more: list[Part] = [
        (name, "private-knn", last, source) for name in data for source in ("train", "embedding")
    ]
    return parts + more


def main() -> None:
    parser = argparse.ArgumentParser(description="Adversaries against private prediction.")
    parser.add_argument("--data", nargs="+", choices=SETTINGS, default=["digits"])
    parser.add_argument("--json", action="store_true", help="print an object, write no page")
    add_workers(parser)
    asked = parser.parse_args()
    parts = parts_of(asked.data)
    with workers(asked) as executor:
        results = carried_out(measured, parts, "private_prediction", executor)
        found = {tuple(map(str, part)): result for part, result in zip(parts, results, strict=True)}
        if asked.json:
            print(json.dumps(listed(found), indent=1))
            return
        teachers: list[Part] = [(name, mechanism) for name in asked.data for mechanism in TEACHERS]
        leads = carried_out(lead, teachers, "vote_leads", executor)
    ahead = {
        (str(name), NAMES[str(mechanism)]): Lead(*each)
        for (name, mechanism), each in zip(teachers, leads, strict=True)
    }
    write_table(found)
    for number, panels in figures(found):
        draw(RESULTS / f"private-prediction-{number}.svg", panels)
    write_page("private-prediction.md", page(found, ahead))


def listed(found: orderings.Found) -> dict[str, Any]:
    """Results and orderings as JSON."""
    names = ("data", "mechanism", "adversary", "source")
    results = [dict(zip(names, key, strict=True)) | result for key, result in found.items()]
    return {"orderings": orderings.as_json(found), "results": results}


def write_table(found: orderings.Found) -> None:
    with (RESULTS / "private-prediction.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["data", "mechanism", "adversary", "source", "order", *KINDS])
        for key, result in found.items():
            for i, order in enumerate(result["orders"]):
                rows.writerow([*key, f"{order:g}", *(f"{result[k][i]:.6g}" for k in KINDS)])


def page(found: orderings.Found, ahead: dict[tuple[str, str], Lead]) -> Iterator[str]:
    yield "# Adversaries against private prediction\n"
    yield (
        "Generated by `python -m benchmarks.private_prediction`; do not edit. The mechanisms, "
        "adversaries and bounds are explained in [the pages on audits](../audits/index.md); "
        "figures are numbered as in Chadha et al. 2024 (arXiv 2402.09403). Sums over queries take "
        "teachers trained anew for each, as the paper does: of PATE's teachers trained once they "
        f"are no bounds (see there). {EXPERIMENTS:.0e} experiments of each query and world, drawn "
        "from exact laws; bounds at 95 %, those of many queries together. Nat-MIAQ and Pois-MIAQ "
        "ask the query that gives away most at order 2, which need not be the worst at order 20, "
        "as many times as there are queries, Pois-MINQ each query once. All costs in all orders: "
        "[private-prediction.csv](private-prediction.csv).\n"
    )
    yield head(
        "data | records | queries | trainings for PATE's votes | teachers | noise "
        "| neighbours of Private-kNN | its noise"
    )
    for name in dict.fromkeys(key[0] for key in found):
        s = SETTINGS[name]
        of = f"{s.neighbours} of records drawn with probability {SAMPLING:g}"
        yield (
            f"| {name} | {len(task(name).records):,} | {s.queries} | {s.trainings} | {s.teachers} "
            f"| {s.noise} | {of} | {s.neighbours_noise} |"
        )
    yield (
        "\nTeachers are nearest-neighbour classifiers; those of PromptPATE are prompts of one "
        "record each for a linear classifier that stands in for a language model, knows its task "
        "from 100 public records, and obeys what a prompt says.\n"
    )
    yield "![Bars by mechanism and data for Nat-MIAQ and Pois-MIAQ](private-prediction-3.svg)\n"
    yield "![Bars by mechanism and data for Pois-MINQ](private-prediction-4.svg)\n"
    yield "![Bars for Private-kNN by adversary and by source](private-prediction-5.svg)\n"
    yield (
        f"Bars are Rényi costs converted to epsilon at delta {DELTA:g}, as in the paper's "
        "figures; no cost at all converts to the dotted line. **Converted lower bounds are no "
        "lower bounds of epsilon**; the costs themselves, in nats. *Mean* is that of the exact "
        "cost of one answer, over all queries. PATE's are of laws estimated from half of the "
        "trainings, and the figures say nothing of how far those laws may be off; the "
        "others' laws are computed exactly.\n"
    )
    columns = [
        f"{kind.replace('_exact', '')}, order {order:g}"
        for order in orderings.SHOWN
        for kind in KINDS_OF_TABLE
    ]
    yield head("data | mechanism | adversary | adds | " + " | ".join(columns))
    for (data, mechanism, adversary, _), result in found.items():
        places = [result["orders"].index(order) for order in orderings.SHOWN]
        costs = [f"{result[k][i]:.3g}" for i in places for k in KINDS_OF_TABLE]
        cells = [data, NAMES[mechanism], adversary, result["crafted"], *costs]
        yield "| " + " | ".join(cells) + " |"
    yield "\n## Orderings of the paper\n"
    yield from _orderings(found)
    yield (
        "\nWhether CaPC or PromptPATE gives away more in nats depends on how far the votes lead, "
        "more than on how surely one of them changes. On natural queries, poisoned:\n"
    )
    yield from vote_leads.rows(ahead)
    yield "\n" + _exceeding(found)


def _orderings(found: orderings.Found) -> Iterator[str]:
    """Shares first, as the paper compares mechanisms by them, then costs in nats."""
    yield (
        "Section 5.4 compares PATE, CaPC and PromptPATE *relative to the exact calculation*, which "
        "is of two histograms one vote apart: here the exact cost if a vote changed for sure "
        "(`changed` in the CSV). Nat-MIAQ and Pois-MIAQ have the smallest share of it in PATE, "
        "CaPC and PromptPATE have similar ones, and Pois-MINQ keeps the order. Exact costs of the "
        "worlds as shares of it; *yes* where PATE has less than CaPC, and CaPC no more than "
        "PromptPATE:\n"
    )
    yield from orderings.rows(found, orderings.SHARES)
    held, cases, _ = orderings.counted(found, orderings.SHOWN)
    of_all, all_cases, left = orderings.counted(found, ORDERS.tolist())
    others = f"; the others are {' and '.join(left)}" if left else ""
    yield (
        f"\nSo it comes out in {held} of {cases} cases, and in {of_all} of {all_cases} over all "
        f"{len(ORDERS)} orders of the CSV{others}.\n"
    )
    yield (
        "In nats it does not everywhere: a vote costs less, the further the first class leads. "
        "*Much lower*, as the paper says of natural queries beside adversarial ones, is taken to "
        "be less than half:\n"
    )
    yield from orderings.rows(found, orderings.NATS)


def _exceeding(found: orderings.Found) -> str:
    """In how many rows a bound lies above the exact cost, at any order shown."""
    rows = [
        any(result["region"][i] > result["exact"][i] for i in range(len(result["orders"])))
        for result in found.values()
    ]
    return (
        f"The region's bound lies above the exact cost, at some order, in {sum(rows)} of "
        f"{len(rows)} rows; each may with probability {ALPHA:g}."
    )


if __name__ == "__main__":
    main()
