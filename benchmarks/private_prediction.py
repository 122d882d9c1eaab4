"""Adversaries against four private prediction mechanisms, as bars: theory, exact cost, audit.

`python -m benchmarks.private_prediction [--data NAME ...]` from the repository's root, in a clone
with the extras `bench` and `audit`, draws what Chadha et al. 2024 (arXiv 2402.09403) draw in
Figures 3, 4 and 5, on records that packages carry; it writes docs/private-prediction.md, .csv and
three .svg. Stopped, it goes on where it was when it is run again.
"""

import argparse
import csv
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np

from dpassay.attacks.auditing import epsilon_if_the_bounds_were_exact
from dpassay.attacks.private_prediction.adversaries import Adversary
from dpassay.attacks.private_prediction.against_neighbours import Source
from dpassay.attacks.private_prediction.audited import Terms
from dpassay.attacks.private_prediction.deployments import Deployment, Mechanism
from dpassay.reference import parse_noise
from dpassay.reference.ensembles.records import Task, digits, mnist, table
from dpassay.reference.parallel.workers import open_executor
from dpassay.verifiers.commands.audit_mechanism import Work, audit_mechanism

from . import orderings
from .long_runs import KEPT, ROOT, Part, add_workers, carried_out, workers

mpl.use("svg")

import matplotlib.pyplot as plt

ORDERS = np.array([1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 20.0, 32.0, 64.0])
EXPERIMENTS = 10**8
DELTA, ALPHA, SAMPLING = 1e-6, 0.05, 0.2
NOTHING = epsilon_if_the_bounds_were_exact(np.zeros(ORDERS.size), ORDERS, DELTA)
"""What no cost at all converts to: bars of small costs stand on it."""


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
KINDS = {
    "theory": "published analysis",
    "changed": "exact, if a vote changed for sure",
    "exact": "exact",
    "region": "audit, likelihood region",
    "two_cut": "audit, 2-cut",
}
KINDS_OF_TABLE = ("theory", "exact", "region", "mean_exact")
COLOURS = ("#c7c7c7", "#9ecae1", "#3182bd", "#e6550d", "#fdae6b")
TEACHERS: tuple[Mechanism, ...] = ("pate", "capc", "prompt-pate")
ADVERSARIES = {
    Adversary.NAT_MIAQ: "Nat-MIAQ",
    Adversary.POIS_MIAQ: "Pois-MIAQ",
    Adversary.POIS_MINQ: "Pois-MINQ",
}
NAMES = {"pate": "PATE", "capc": "CaPC", "prompt-pate": "PromptPATE", "private-knn": "Private-kNN"}


@cache
def task(data: str) -> Task:
    queries = SETTINGS[data].queries
    if data == "digits":
        return digits().with_queries(queries)
    if data == "mnist":
        return mnist().with_queries(queries)
    folder = Path(os.environ.get("DPASSAY_DATA", ROOT.parent / "shared" / "data"))
    return table(folder / "adult_income_train.csv.gz", "income", queries)


def measured(data: str, mechanism: Mechanism, adversary: str, source: Source) -> dict[str, Any]:
    """What `dpassay audit --mechanism --json` says of one adversary."""
    setting = SETTINGS[data]
    neighbours = mechanism == "private-knn"
    deployment = Deployment(
        mechanism,
        task(data),
        parse_noise(setting.neighbours_noise if neighbours else setting.noise),
        setting.neighbours if neighbours else setting.teachers,
        "nearest",
        setting.trainings,
        SAMPLING,
        0,
    )
    terms = Terms(ORDERS, setting.queries, EXPERIMENTS, ALPHA, 0)
    with open_executor() as here:
        work = Work(here, KEPT / "trainings", anew=False)
        found = audit_mechanism(deployment, [(Adversary(adversary), source)], terms, DELTA, work)
    return dict(found.as_json()["audits"][0])


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
    add_workers(parser)
    asked = parser.parse_args()
    parts = parts_of(asked.data)
    with workers(asked) as executor:
        results = carried_out(measured, parts, "private_prediction", executor)
    found = {tuple(map(str, part)): result for part, result in zip(parts, results, strict=True)}
    write_table(found)
    for number, panels in figures(found):
        draw(ROOT / "docs" / f"private-prediction-{number}.svg", panels)
    (ROOT / "docs" / "private-prediction.md").write_text("\n".join(page(found)) + "\n")


Panel = tuple[str, list[tuple[str, dict[str, Any]]]]


def figures(found: orderings.Found) -> Iterator[tuple[int, list[Panel]]]:
    """The panels of each figure: a title, and what stands side by side in it."""
    data = list(dict.fromkeys(key[0] for key in found))

    def panel(title: str, mechanisms: tuple[str, ...], adversary: Adversary, source: str) -> Panel:
        bars = [
            (f"{NAMES[m]}\n{d}", found[d, m, adversary.value, source])
            for d in data
            for m in mechanisms
        ]
        return title, bars

    yield (
        3,
        [
            panel(ADVERSARIES[a], TEACHERS, a, "test")
            for a in (Adversary.NAT_MIAQ, Adversary.POIS_MIAQ)
        ],
    )
    yield 4, [panel("Pois-MINQ", TEACHERS, Adversary.POIS_MINQ, "test")]
    sources: Panel = (
        "Private-kNN, Pois-MINQ, the added point from",
        [
            (f"{source}\n{d}", found[d, "private-knn", Adversary.POIS_MINQ.value, source])
            for d in data
            for source in ("test", "train", "embedding")
        ],
    )
    by_adversary: Panel = (
        "Private-kNN",
        [
            (f"{ADVERSARIES[a]}\n{d}", found[d, "private-knn", a.value, "test"])
            for d in data
            for a in Adversary
        ],
    )
    yield 5, [by_adversary, sources]


def draw(path: Path, panels: list[Panel]) -> None:
    bars = max(len(each) for _, each in panels)
    figure, axes = plt.subplots(
        len(panels), 1, figsize=(1.2 + 1.5 * bars, 3.4 * len(panels)), squeeze=False
    )
    width = 0.16
    for axis, (title, each) in zip(axes[:, 0], panels, strict=True):
        for k, (kind, label) in enumerate(KINDS.items()):
            heights = [
                result["epsilon_if_the_bounds_were_exact"][kind] or 0.0 for _, result in each
            ]
            places = np.arange(len(each)) + (k - 2) * width
            drawn = axis.bar(places, heights, width, color=COLOURS[k], label=label)
            axis.bar_label(drawn, fmt="%.2g", fontsize=6, padding=1)
        axis.set_xticks(np.arange(len(each)), [name for name, _ in each], fontsize=8)
        axis.set_title(title, fontsize=10)
        axis.set_ylabel(f"converted epsilon at {DELTA:g}", fontsize=8)
        axis.axhline(NOTHING, color="black", linewidth=0.6, linestyle=":", label="of no cost")
        axis.margins(y=0.15)
        axis.spines[["top", "right"]].set_visible(False)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, ncol=3, fontsize=8, loc="lower center", frameon=False)
    figure.tight_layout(rect=(0, 0.14 / len(panels), 1, 1))
    mpl.rcParams["svg.hashsalt"] = "private-prediction"
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def write_table(found: orderings.Found) -> None:
    with (ROOT / "docs" / "private-prediction.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["data", "mechanism", "adversary", "source", "order", *KINDS])
        for key, result in found.items():
            for i, order in enumerate(result["orders"]):
                rows.writerow([*key, f"{order:g}", *(f"{result[k][i]:.6g}" for k in KINDS)])


def page(found: orderings.Found) -> Iterator[str]:
    yield "# Adversaries against private prediction\n"
    yield (
        "Generated by `python -m benchmarks.private_prediction`; do not edit. The mechanisms, "
        "adversaries and bounds are explained in [audits.md](audits.md); figures are numbered as "
        "in Chadha et al. 2024 (arXiv 2402.09403). "
        "Sums over queries take teachers trained anew for each, as the paper does: of PATE's "
        "teachers trained once they are no bounds (see there). "
        f"{EXPERIMENTS:.0e} experiments of each query and world, drawn from exact laws; bounds at "
        "95 %, those of many queries together. Nat-MIAQ and Pois-MIAQ ask the query that gives "
        "away most as many times as there are queries, Pois-MINQ each query once. All costs in all "
        "orders: [private-prediction.csv](private-prediction.csv).\n"
    )
    yield (
        "| data | records | queries | trainings for PATE's votes | teachers | noise "
        "| neighbours of Private-kNN | its noise |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for name in dict.fromkeys(key[0] for key in found):
        s = SETTINGS[name]
        of = f"{s.neighbours} of records drawn with probability {SAMPLING:g}"
        yield (
            f"| {name} | {len(task(name).records):,} | {s.queries} | {s.trainings} | {s.teachers} "
            f"| {s.noise} | {of} "
            f"| {s.neighbours_noise} |"
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
        "cost of one answer, over all queries:\n"
    )
    head = [
        f"{kind.replace('_exact', '')}, order {order:g}"
        for order in orderings.SHOWN
        for kind in KINDS_OF_TABLE
    ]
    yield "| data | mechanism | adversary | adds | " + " | ".join(head) + " |"
    yield "|---" * (4 + len(head)) + "|"
    for (data, mechanism, adversary, _), result in found.items():
        places = [result["orders"].index(order) for order in orderings.SHOWN]
        costs = [f"{result[k][i]:.3g}" for i in places for k in KINDS_OF_TABLE]
        cells = [data, NAMES[mechanism], adversary, result["crafted"], *costs]
        yield "| " + " | ".join(cells) + " |"
    yield "\n## Orderings of the paper\n"
    yield (
        "Exact costs in nats, which should rise from left to right. Under adversarial queries the "
        "paper calls CaPC and PromptPATE similar, and orders them not.\n"
    )
    yield from orderings.rows(found)


if __name__ == "__main__":
    main()
