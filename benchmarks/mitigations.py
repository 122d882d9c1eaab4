"""From noisy answers to people, and what a deployment can do about it: tables and figures.

`python -m benchmarks.mitigations` from the repository's root, in a clone with the extras `bench`
and `audit`, writes docs/mitigations.md and two .svg, on the embedded ensemble and, where they are
found, the votes published with Wang et al. 2022. Stopped, it goes on where it was.
"""

import argparse
import csv
import os
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.inference.measures import Estimate
from dpassay.attacks.inference.mitigated_student import Lesson
from dpassay.attacks.inference.mitigations import Cache, Mitigated, Setting, mitigated
from dpassay.attacks.inference.through_answers import (
    READINGS,
    Cell,
    EndToEnd,
    through_answers,
)
from dpassay.attacks.inference.two_classes import expected_misplacement
from dpassay.reference import ConfidentGNMax, Gaussian, NoisyArgmax
from dpassay.reference.ensembles.people import adult, rare_digit
from dpassay.reference.ensembles.student import Student
from dpassay.reference.ensembles.teachers import Teachers, votes_of

from .long_runs import KEPT, ROOT, add_workers, sources, workers

mpl.use("svg")

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from sklearn.ensemble import RandomForestClassifier

DELTA = 1e-5
QUERIES = (1, 10, 100, 1000, 10_000)
NOISES = (0.5, 1.0, 2.0, 4.0)  # times the usual noise
ATTACKED = 1000  # answers about each person, where nothing is done
TESTED = 200  # queries that a student is tested on; it asks about the others
DUPLICATES, AMPLITUDE = 100, 0.01  # near-duplicates of each input: pixels from 0 to 1
SEEDS = range(20)
USUAL = 0.16  # standard deviation of the noise, as a share of the teachers: 40 of 250
CONSENSUS = (0.55, 0.75, 0.9, 0.98)
COLOURS = ("#08306b", "#2171b5", "#6baed6", "#e6550d")


class Data(NamedTuple):
    """People's histograms (m, 2), who has the attribute, the right classes; near-duplicates."""

    name: str
    said: str
    histograms: NDArray[np.int64]
    positive: NDArray[np.bool_]
    truths: NDArray[np.int64] | None
    near: NDArray[np.int64] | None
    lesson: Lesson | None

    @property
    def teachers(self) -> int:
        """Who vote on each of them."""
        return int(self.histograms[0].sum())

    @property
    def sigma(self) -> float:
        """Of the usual noise, in votes."""
        return USUAL * self.teachers


def embedded(executor: Executor) -> Data:
    people = rare_digit()
    teachers = Teachers(people.task, "forest", 50)
    votes = votes_of(teachers, executor, KEPT / "teachers")
    task = people.task
    rng = np.random.default_rng(0)
    images = np.repeat(task.queries, DUPLICATES, 0)
    images = np.clip(images + rng.normal(0.0, AMPLITUDE, images.shape), 0.0, 1.0)
    nearly = replace(task, queries=images, truths=np.repeat(task.truths, DUPLICATES))
    near = votes_of(Teachers(nearly, "forest", 50), executor, KEPT / "teachers")
    return Data(
        "digits",
        f"{len(task.queries)} handwritten digits, told even from odd by 50 forests; the attribute "
        f"is to be an 8, of which the teachers saw few ({people.hidden.sum()} people have it)",
        votes.histograms,
        people.hidden == 1,
        task.truths,
        near.histograms.reshape(-1, DUPLICATES, 2),
        Lesson(task, Student("label-spreading"), TESTED),
    )


def published() -> Data | None:
    folder = Path(os.environ.get("DPASSAY_DATA", ROOT.parent / "shared" / "data"))
    path = folder / "wang2022_adult_histograms.csv"
    if not path.exists():
        return None
    with path.open() as file:
        rows = list(csv.DictReader(file))
    votes = [[int(row["votes_low_income"]), int(row["votes_high_income"])] for row in rows]
    people = adult(folder)
    phd_first = np.argsort(1 - people.hidden, kind="stable")  # the order in which votes are given
    task = replace(
        people.task,
        queries=people.task.queries[phd_first],
        truths=people.task.truths[phd_first],
    )
    phd = people.hidden[phd_first] == 1
    assert [row["group"] == "phd" for row in rows] == phd.tolist()
    return Data(
        "Adult, published votes",
        f"{len(rows):,} people, incomes above or below 50,000 dollars by 250 forests of Wang et "
        f"al. 2022; the attribute is to hold a PhD ({phd.sum()} people do)",
        np.array(votes, dtype=np.int64),
        phd,
        task.truths,
        None,
        Lesson(
            task, Student("self-training", RandomForestClassifier(20, min_samples_leaf=3)), 2000
        ),
    )


def gnmax(sigma: float) -> NoisyArgmax:
    return NoisyArgmax(Gaussian(sigma))


def cells(data: Data) -> list[Cell]:
    grid = [Cell(gnmax(x * data.sigma), n) for x in NOISES for n in QUERIES]
    more = [Cell(gnmax(x * data.sigma), n, reading) for x, n in FEW for reading in READINGS]
    return list(dict.fromkeys(grid + more))


FEW = ((0.25, 10), (0.25, 1000), (1.0, 10), (1.0, 1000), (4.0, 10), (4.0, 1000))
"""Noise and queries at which ways of reading are compared."""


def settings(data: Data) -> list[Setting]:
    n, sigma, many = data.teachers, data.sigma, ATTACKED
    plain, step = gnmax(sigma), n // 10

    def confident(times: float) -> ConfidentGNMax:
        return ConfidentGNMax(Gaussian(sigma), 0.8 * n, Gaussian(times * sigma))

    listed = [
        Setting("nothing", plain, many),
        Setting("kept answers, the same input", plain, 1),
        Setting("at most 10 queries per input", plain, 10),
        Setting("at most 100 queries per input", plain, 100),
        Setting("low consensus refused, threshold noise 3.75 sigma", confident(3.75), many),
        Setting("low consensus refused, threshold noise sigma", confident(1.0), many),
        Setting(f"rounded to {step}s, same noise", plain, many, step),
        Setting(f"rounded to {step}s, noise for the same epsilon", gnmax(step * sigma), many, step),
        Setting("half the noise, as many queries", gnmax(sigma / 2), many),
        Setting("twice the noise, as many queries", gnmax(2 * sigma), many),
        Setting("half the noise, same epsilon: a quarter", gnmax(sigma / 2), many // 4),
        Setting("twice the noise, same epsilon: four times", gnmax(2 * sigma), 4 * many),
    ]
    if data.near is not None:
        caches: tuple[Cache, ...] = ("input", "histogram")
        listed[2:2] = [
            Setting(
                f"kept answers by {cache}, {DUPLICATES} near-duplicates",
                plain,
                DUPLICATES,
                cache=cache,
            )
            for cache in caches
        ]
    return listed


def main() -> None:
    parser = argparse.ArgumentParser(description="From answers to people, and what helps.")
    add_workers(parser)
    asked = parser.parse_args()
    lines, ends = list(opening()), []
    with workers(asked) as executor:
        for data in filter(None, (embedded(executor), published())):
            grid = cells(data)
            found = through_answers(
                data.histograms,
                data.positive,
                grid,
                executor,
                delta=DELTA,
                kept=KEPT / f"answers-{sources()}",
            )
            done = mitigated(
                settings(data),
                data.histograms,
                data.positive,
                executor,
                truths=data.truths,
                near_duplicates=data.near,
                lesson=data.lesson,
                seeds=SEEDS,
                delta=DELTA,
            )
            ends.append((data, found))
            lines += section(data, found, done)
    draw_inference(ends)
    draw_noise()
    (ROOT / "docs" / "mitigations.md").write_text("\n".join([*lines, *closing()]) + "\n")


def opening() -> Iterator[str]:
    yield "# From answers to people, and what helps\n"
    yield (
        "Generated by `python -m benchmarks.mitigations`; do not edit. An ensemble of teachers "
        "answers with the class of most votes, after noise. Somebody who asks about the same "
        "person again and again can read the votes from the answers, as Wang et al. 2022 (arXiv "
        "2209.10732) show, and from the votes what no teacher is told: minorities that the "
        "teachers saw few of make them disagree. Here the attacker knows the noise and how many "
        "teachers there are, reads all people's votes together with a prior fitted to them "
        "(`dpassay.attacks.prior`, between two classes exactly), and calls those likeliest to have "
        "the attribute on whom the teachers agree least. The findings in words: [What it comes "
        "to](#what-it-comes-to), at the end.\n"
    )
    yield (
        "**Votes misplaced**: share of a person's votes that the attacker puts into the wrong "
        "class. **AUC**: how often a person with the attribute gets the higher score of two, 0.5 "
        "by chance; intervals are 95 %. **TPR**: share of them found at 1 % false alarms. "
        "**Accuracy**: of calling everybody below 75 % consensus, either kind counting half. "
        "*Lost* is against an attacker who sees the votes themselves. **Epsilon**, at delta "
        f"{DELTA:g}, is of the teachers' training records (one record changed, and with it one "
        "teacher's vote), not of the person asked about: for all answers about one person as it is "
        "published (data-independent: whatever the votes are), and exactly at their own votes, the "
        "median and the largest over people; then of all answers to everybody, as who wants all "
        "votes needs.\n"
    )


def section(data: Data, found: list[EndToEnd], done: list[Mitigated]) -> Iterator[str]:
    at = {_key(one.cell): one for one in found}
    direct = found[0].direct
    yield f"## {data.name}\n"
    yield f"{data.said[0].upper()}{data.said[1:]}. Usual noise: sigma {data.sigma:g}.\n"
    yield (
        f"Who sees the votes themselves: AUC {direct.auc}, TPR {direct.tpr}, accuracy "
        f"{direct.accuracy:.3f}. Through answers:\n"
    )
    yield (
        "| sigma | answers about each | votes misplaced | AUC | lost | TPR | lost | accuracy | "
        "lost | epsilon, one person | at their votes: median | largest | everybody | at their "
        "votes |"
    )
    yield "|---" * 14 + "|"
    for x in NOISES:
        for n in QUERIES:
            yield _end_to_end(at[x * data.sigma, n, "together"])
    yield "\n" + _lost(data, at)
    yield from _readings(data, at)
    yield from _mitigations(data, done)


def _key(cell: Cell) -> tuple[float, int, str]:
    return cell.mechanism.noise.scale, cell.queries, cell.reading


def _end_to_end(one: EndToEnd) -> str:
    through, cost = one.through, one.cost
    cells = [
        f"{one.cell.mechanism.noise.scale:g}",
        f"{one.cell.queries:,}",
        f"{100 * one.misplaced:.1f} %",
        str(through.auc),
        f"{one.auc_lost:+.3f}",
        f"{through.tpr.value:.3f}",
        f"{one.tpr_lost:+.3f}",
        f"{through.accuracy:.3f}",
        f"{one.accuracy_lost:+.3f}",
        _epsilon(cost.person),
        _epsilon(cost.person_exact),
        _epsilon(cost.person_most),
        _epsilon(cost.everybody),
        _epsilon(cost.everybody_exact),
    ]
    return "| " + " | ".join(cells) + " |"


def _epsilon(value: float) -> str:
    if np.isinf(value):
        return "none"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}" if value < 1 else f"{value:.1f}"


def _lost(data: Data, at: dict[tuple[float, int, str], EndToEnd]) -> str:
    one = at[data.sigma, 1000, "together"]
    whole = one.direct.auc.value - 0.5
    kept = (one.through.auc.value - 0.5) / whole
    return (
        f"At the usual noise 1,000 answers keep {100 * kept:.0f} % of what the votes themselves "
        f"give beyond chance. They cost epsilon {_epsilon(one.cost.person)} as it is published, "
        f"{_epsilon(one.cost.person_exact)} at the median person's votes: **that epsilon is of "
        "the training records, and keeps nothing of the person asked about**. To ask so much of "
        f"everybody costs epsilon {_epsilon(one.cost.everybody)}.\n"
    )


def _readings(data: Data, at: dict[tuple[float, int, str], EndToEnd]) -> Iterator[str]:
    yield "### Does it help to attack people together?\n"
    yield (
        "Votes misplaced, and AUC, by how the same answers are read: the likeliest votes; the "
        "likeliest in closed form (the share of answers put through the inverse of the normal "
        "law; expected exactly, without simulation); the posterior of each person alone, and of "
        "all together.\n"
    )
    yield (
        "| sigma | answers | likeliest | closed form | alone | together | AUC: likeliest | alone "
        "| together |"
    )
    yield "|---" * 9 + "|"
    for x, n in FEW:
        sigma = x * data.sigma
        read = {reading: at[sigma, n, reading] for reading in READINGS}
        shares = {reading: f"{100 * one.misplaced:.2f} %" for reading, one in read.items()}
        aucs = [f"{read[reading].through.auc.value:.3f}" for reading in READINGS]
        closed = f"{100 * _closed_form(data, sigma, n):.2f} %"
        row = [shares["mle"], closed, shares["alone"], shares["together"], *aucs]
        yield f"| {sigma:g} | {n:,} | " + " | ".join(row) + " |"
    yield (
        "\nThe posterior of all together misplaces fewer votes than that of each alone wherever "
        "answers are few, or nearly all the same; where answers say enough, there is nothing to "
        "gain. It does not help to rank people: between two classes the score rises with the "
        "share of the rarer answer, whatever the prior. Where all answers are the same, all votes "
        "beyond some number are as likely: the search for the likeliest stops somewhere there, "
        "the closed form says all of them.\n"
    )


def _closed_form(data: Data, sigma: float, queries: int) -> float:
    votes, many = np.unique(data.histograms[:, 0], return_counts=True)
    errors = [expected_misplacement(int(v), data.teachers, sigma, queries) for v in votes]
    return float(many @ np.array(errors) / many.sum())


def _mitigations(data: Data, done: list[Mitigated]) -> Iterator[str]:
    yield "### What a deployment can do\n"
    truth = "" if data.truths is None else "Right: by the truth. "
    near = "" if data.near is None else _said_of_near(data)
    taught = "" if data.lesson is None else _said_of_lesson(data.lesson)
    yield (
        f"The attacker asks {ATTACKED:,} times where nothing is done. Leakage: means over "
        f"{len(SEEDS)} drawings of the noise, with 95 % intervals for these means. Utility: one "
        f"answer to every query, exactly. {truth}Plurality: as most teachers say. Epsilon of a "
        "release: one answer to everybody, as for a student, data-independent and exactly at "
        f"their votes.{taught}{near}\n"
    )
    yield (
        "| the deployment | answers | votes misplaced | AUC | answered | right | plurality | "
        "student | epsilon, one person | epsilon, release | at their votes |"
    )
    yield "|---" * 11 + "|"
    for one in done:
        use, cost = one.utility, one.spent
        cells = [
            one.setting.name,
            f"{one.setting.queries:,}",
            _percents(one.misplaced),
            str(one.auc),
            f"{100 * use.answered:.1f} %",
            "" if use.right is None else f"{100 * use.right:.1f} %",
            f"{100 * use.plurality:.1f} %",
            "" if one.student is None else _percents(one.student),
            *map(_epsilon, (cost.person, cost.release, cost.release_exact)),
        ]
        yield "| " + " | ".join(cells) + " |"
    yield ""


_METHODS = {"label-spreading": "label spreading", "self-training": "self-training of forests"}


def _said_of_lesson(lesson: Lesson) -> str:
    asked = len(lesson.task.queries) - lesson.tested
    return (
        f" Student: the accuracy, on {lesson.tested:,} records it never asked about, of one that "
        f"got one answer to each of the other {asked:,} and learned from them by "
        f"{_METHODS[lesson.student.method]}, refused records included without a label; a "
        "student asks less than everybody, and its labels cost less than the release beside it."
    )


def _said_of_near(data: Data) -> str:
    assert data.near is not None
    away = np.abs(data.near[..., 0] - data.histograms[:, :1])
    return (
        f" Near-duplicates are made, and voted on by the same teachers: each pixel, from 0 to 1, "
        f"has noise of {AMPLITUDE:g} added. {100 * (away == 0).mean():.0f} % have the very same "
        f"histogram, on average {100 * away.mean() / data.teachers:.1f} % of the votes differ."
    )


def _percents(share: Estimate) -> str:
    return f"{100 * share.value:.1f} % ({100 * share.low:.1f} to {100 * share.high:.1f})"


def closing() -> Iterator[str]:
    yield "## What it comes to\n"
    yield (
        "![AUC by answers about each person, for four noises, beside that of the votes]"
        "(mitigations-inference.svg)\n"
    )
    yield (
        "Votes misplaced by the likeliest votes, exactly, by the share of 250 teachers who agree; "
        "the dotted line is the usual noise:\n"
    )
    yield (
        "![Votes misplaced by the noise: a valley at fixed queries, falling at fixed epsilon]"
        "(mitigations-noise.svg)\n"
    )
    yield from (f"- {line}" for line in FOUND)


FOUND = (
    "**A cache ends the attack of identical queries, and no other.** Inputs changed imperceptibly "
    "have nearly the same votes, and answers to them give nearly what as many repeats would. A "
    "cache by histogram, which the server can have as it knows the votes, tells this attacker far "
    "less, who reads its answers as though to one input; but **it has no epsilon**: two inputs "
    "with one histogram always get one answer, two with different ones need not, so that answers "
    "that differ prove that a vote did, which no noise hides.",
    "**A limit of queries per input** costs the student nothing, who asks once. It has to be "
    "small: ten answers give about half of what can be had, a hundred most of it. And it holds "
    "as far as inputs that are nearly the same count as one.",
    "**Refusing where consensus is low helps the attacker**: refusals say how far the largest "
    "count is from the threshold, and so tell votes that labels hide. The labels that are given "
    "are better, and fewer: in all these tables the student is no better for it.",
    "**Rounding is paid for in epsilon.** A vote that moves can move two counts by a whole step "
    "s, so that the noise must be s times larger for the same guarantee (at the same noise it "
    "costs s squared times as much in Rényi terms). With noise for the same epsilon the labels "
    "are of little use; with the same noise all but the rounding is read as well as ever.",
    "**More noise**: Wang et al. find that it helps the attacker. At a fixed number of queries "
    "that is so up to a point, as small noise hides the rarer class altogether; beyond sigma = "
    "0.45 times the distance between the two counts, where an answer says most of them, more "
    "noise hurts. At a fixed epsilon there is no such point: more noise pays for more queries, in "
    "proportion to sigma squared, and each epsilon's worth of answers says more. (Where teachers "
    "are nearly unanimous and answers all the same, to guess unanimity is nearly right already: "
    "the curve of 98 % begins below its peak.)",
    "**The student hardly sees the noise**: it learns from hundreds of labels or more, whose "
    "errors cancel, so that twice the noise, or half of it, moves its accuracy by less than a "
    "point. Only the noise that rounding needs is too much for it.",
    "**Less noise with fewer queries**, at the same epsilon for what one person's answers may "
    "cost, leaks less and labels better. But one answer to everybody then costs more: small noise "
    "is paid for by the student, a limit of queries by the attacker.",
)


def draw_inference(ends: list[tuple[Data, list[EndToEnd]]]) -> None:
    figure, axes = plt.subplots(
        1, len(ends), figsize=(5.2 * len(ends), 4.2), squeeze=False, layout="constrained"
    )
    for axis, (data, found) in zip(axes[0], ends, strict=True):
        at = {_key(one.cell): one for one in found}
        for x, colour in zip(NOISES, COLOURS, strict=True):
            sigma = x * data.sigma
            each = [at[sigma, n, "together"].through.auc.value for n in QUERIES]
            axis.plot(QUERIES, each, "o-", color=colour, ms=4, label=f"sigma {sigma:g}")
        direct = found[0].direct.auc
        axis.axhline(direct.value, color="black", lw=0.9, ls="--", label="from the votes")
        axis.axhspan(direct.low, direct.high, color="black", alpha=0.06, lw=0)
        axis.axhline(0.5, color="#888888", lw=0.9, ls=":", label="chance")
        axis.set(
            xscale="log",
            xlabel="answers about each person",
            ylabel="AUC of the attribute",
            title=data.name,
            ylim=(0.47, None),
        )
        axis.set_xticks(QUERIES, [f"{n:,}" for n in QUERIES])
        axis.legend(
            fontsize=8, frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.16)
        )
        axis.spines[["top", "right"]].set_visible(False)
    _save(figure, "mitigations-inference.svg")


def draw_noise() -> None:
    teachers = 250
    usual = USUAL * teachers
    sigmas = np.geomspace(5.0, 400.0, 40)
    figure, axes = plt.subplots(1, 2, figsize=(10.4, 4.2), sharey=True, layout="constrained")
    for share, colour in zip(CONSENSUS, COLOURS, strict=True):
        votes = round(share * teachers)
        budgets = (
            [ATTACKED for _ in sigmas],
            [max(1, round(ATTACKED * (sigma / usual) ** 2)) for sigma in sigmas],
        )
        for axis, queries in zip(axes, budgets, strict=True):
            errors = [
                100 * expected_misplacement(votes, teachers, float(sigma), n)
                for sigma, n in zip(sigmas, queries, strict=True)
            ]
            axis.plot(sigmas, errors, color=colour, label=f"{100 * votes / teachers:.0f} % agree")
    titles = (
        f"{ATTACKED:,} answers, whatever the noise",
        f"the same epsilon: {ATTACKED:,} answers at sigma {usual:g}",
    )
    for axis, title in zip(axes, titles, strict=True):
        axis.axvline(usual, color="#888888", lw=0.8, ls=":")
        axis.set(xscale="log", yscale="log", xlabel="sigma, in votes of 250", title=title)
        axis.set_xticks((5, 10, 20, 40, 100, 200, 400), (5, 10, 20, 40, 100, 200, 400))
        axis.set_yticks((0.2, 0.5, 1, 2, 5, 10, 20, 50), (0.2, 0.5, 1, 2, 5, 10, 20, 50))
        axis.minorticks_off()
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("votes misplaced, %")
    axes[0].legend(fontsize=8, frameon=False)
    _save(figure, "mitigations-noise.svg")


def _save(figure: Figure, name: str) -> None:
    mpl.rcParams["svg.hashsalt"] = name
    figure.savefig(ROOT / "docs" / name, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    main()
