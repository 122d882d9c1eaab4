"""The gate on the zoo in tests/zoo, over many seeds; writes docs/results/zoo.md.

`python -m benchmarks.zoo [--runs N] [--only ID]` from the repository's root. Stopped, it goes on
where it was when it is run again.
"""

import argparse
import json
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from dpassay.verifiers.findings.report import Report
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify

from .long_runs import ROOT, Part, add_workers, carried_out, workers

sys.path.insert(0, str(ROOT / "tests"))

from zoo import BROKEN, CORRECT, Entry, opened  # its folder has to be on the path

ENTRIES = {entry.id: entry for entry in BROKEN + CORRECT}

TOGETHER = 10
"""Runs after which results are kept."""

FEWER = 5
"""Most aggregators have a fifth of the runs. All runs are for those that only some of a run's
labels show, where few runs would miss a weakness, and for the correct ones most like them."""

OFTEN = ("shortcuts", "seeds", "balance", "restarts", "seldom")
"""Classes of fault that only some of a run's labels show: noise that one kind of call leaves out,
or that comes again in one call of hundreds."""

THEIR_RELATIVES = (
    "single-calls-of-their-own",
    "generator-for-each-histogram",
    "workers-at-random",
    "prepaid",
    "charges-twice",
    "served-and-restarted",
    "seeded-by-the-system",
    "state-saved-every-call",
    "cache-on-disk",
    "cache-emptied",
    "noise-of-a-keyed-hash",
)

GATE = {"max_queries": 200_000, "false_alarm": 1e-6, "tolerance": 0.05}


@dataclass(frozen=True)
class Outcome:
    """What one run said of one aggregator. queries: until it was refuted, or of the whole run."""

    verdict: str
    reporting: tuple[str, ...]
    queries: int
    diagnosis: str


def main() -> None:
    parser = argparse.ArgumentParser(description="The gate on the zoo, over many seeds.")
    parser.add_argument("--runs", type=int, default=20, help="runs of each aggregator")
    parser.add_argument("--only", metavar="ID", help="one aggregator, printed and not written")
    add_workers(parser)
    asked = parser.parse_args()
    if asked.only not in (None, *ENTRIES):
        parser.error(f"--only {asked.only}: no aggregator of this name in tests/zoo")
    parts: list[Part] = [
        (seed, *names)
        for seed in range(asked.runs)  # outside: what there is after an hour is of every entry
        for names in sharing_a_plan([asked.only] if asked.only else wanted(seed, asked.runs))
    ]
    outcomes: dict[str, list[Outcome]] = {}
    with workers(asked) as executor:
        found = carried_out(assayed, parts, "zoo", executor)
    for told in found:
        for name, outcome in told.items():
            outcomes.setdefault(name, []).append(
                Outcome(**outcome | {"reporting": tuple(outcome["reporting"])})
            )
    if asked.only:
        print("\n".join([*HEAD, row(ENTRIES[asked.only], outcomes[asked.only])]))
    else:
        (ROOT / "docs" / "results" / "zoo.md").write_text(
            "\n".join(page(outcomes, asked.runs)) + "\n"
        )


def runs_of(entry: Entry, runs: int) -> int:
    """How many of the runs an aggregator has."""
    often = entry.fault in OFTEN or entry.id in THEIR_RELATIVES
    return runs if often else runs // FEWER


def wanted(seed: int, runs: int) -> list[str]:
    """The aggregators that a seed is for."""
    return [entry.id for entry in ENTRIES.values() if seed < runs_of(entry, runs)]


def sharing_a_plan(names: Iterable[str]) -> list[list[str]]:
    """The names by claim, at most TOGETHER at a time: runs of one claim and seed share a plan."""
    of_claim: dict[str, list[str]] = {}
    for name in names:
        of_claim.setdefault(json.dumps(ENTRIES[name].claim, sort_keys=True), []).append(name)
    return [
        some[start : start + TOGETHER]
        for some in of_claim.values()
        for start in range(0, len(some), TOGETHER)
    ]


def assayed(seed: int, *names: str) -> dict[str, dict[str, Any]]:
    """The outcome of each aggregator, by name, as a table of JSON."""
    return {name: asdict(assay(ENTRIES[name], seed)) for name in names}


def assay(entry: Entry, seed: int) -> Outcome:
    table = entry.claim | {"gate": GATE | entry.claim.get("gate", {})}
    noise = 1000 * seed + list(ENTRIES).index(entry.id)
    with opened(entry, noise) as target:
        report = verify(target, parse_claim(table), seed=seed)
    accusing = {"fail", "error", *({entry.verdict} if entry in BROKEN else ())}
    reporting = {found.id for found in report.checks if found.verdict.value in accusing}
    return Outcome(
        report.verdict.value,
        tuple(sorted(reporting)),
        report.queries if report.found_after is None else report.found_after,
        diagnosis(report),
    )


def detected(entry: Entry, outcome: Outcome) -> bool:
    """Whether a check that the entry names says what it should."""
    return outcome.verdict == entry.verdict and bool(set(outcome.reporting) & set(entry.checks))


EARLIER_NAMED = 0.67
"""Share of the diagnoses that were right while a run ended with its first failing check: three runs
each of the 63 aggregators with a name that the zoo had then."""


def diagnosis(report: Report) -> str:
    """That of the first failing check, or of the check that it defers to."""
    said = {f.id: f.diagnosis for f in report.checks if f.verdict == "fail" and f.diagnosis}
    first = next(iter(said.values()), "")
    deferred = re.search(r"\(see ([a-z-]+)\)$", first)
    return said.get(deferred[1], first) if deferred else first


def is_named(entry: Entry, outcome: Outcome) -> bool:
    """Whether the fault that is named first is the one that is there."""
    return entry.named is not None and entry.named in outcome.diagnosis.split("; nearly as")[0]


def named(outcomes: dict[str, list[Outcome]]) -> Iterator[str]:
    """How often the diagnosis is right."""
    known = [entry for entry in BROKEN if entry.named is not None]
    right = {e.id: sum(is_named(e, o) for o in outcomes[e.id]) for e in known}
    asked = sum(len(outcomes[e.id]) for e in known)
    yield (
        f"{len(known)} of the broken ones have a fault with a name (`tests/zoo/names.py`). The "
        "diagnosis of the first failing check, or of the one that it defers to, names it in "
        f"{sum(right.values()):,} of {asked:,} runs ({sum(right.values()) / asked:.1%}); a name "
        'that comes second, after "nearly as well", does not count. It was '
        f"{EARLIER_NAMED:.0%} while runs ended with their first failing check, without labels for "
        "the diagnosis.\n"
    )
    wrong = [f"`{e.id}` ({right[e.id]})" for e in known if right[e.id] < len(outcomes[e.id])]
    yield f"Named in some runs only (so many): {', '.join(wrong) or 'none'}.\n"


def page(outcomes: dict[str, list[Outcome]], runs: int) -> Iterator[str]:
    found = {e.id: sum(detected(e, o) for o in outcomes[e.id]) for e in BROKEN}
    accused = sum(bool(o.reporting) for e in CORRECT for o in outcomes[e.id])
    yield "# The zoo\n"
    yield (
        f"Generated by `python -m benchmarks.zoo --runs {runs}`; do not edit. {len(BROKEN)} broken "
        f"and {len(CORRECT)} correct aggregators (`tests/zoo`), {runs} runs of each of the classes "
        f"{', '.join(OFTEN)} and of the {len(THEIR_RELATIVES)} correct ones most like them, "
        f"{runs // FEWER} of each other one, with seeds of their own, max_queries "
        f"{GATE['max_queries']:,}, false_alarm {GATE['false_alarm']:g}, "
        f"tolerance {GATE['tolerance']:g}. Queries, the median and the "
        "worst, are those until a check was refuted, or of the whole run where none was; those for "
        "the diagnosis follow.\n"
    )
    always = sum(found[e.id] == runs_of(e, runs) for e in BROKEN)
    yield (
        f"Of the broken ones {always} are reported in every run, {len(BROKEN) - always} are not. "
        f"Correct ones are accused in {accused} of {sum(runs_of(e, runs) for e in CORRECT)} runs.\n"
    )
    at_times = [f"`{e.id}` ({found[e.id]})" for e in BROKEN if 0 < found[e.id] < runs_of(e, runs)]
    never = [f"`{name}`" for name, n in found.items() if n == 0]
    yield f"Reported in some runs (so many): {', '.join(at_times) or 'none'}.\n"
    yield f"Never reported: {', '.join(never) or 'none'}.\n"
    yield from named(outcomes)
    for fault in dict.fromkeys(entry.fault for entry in BROKEN + CORRECT):
        here = [entry for entry in BROKEN + CORRECT if entry.fault == fault]
        yield f"## {'Correct' if fault == 'none' else fault.capitalize()}\n"
        yield from HEAD
        yield from (row(entry, outcomes[entry.id]) for entry in here)
        yield ""


HEAD = (
    "| id | what it does | claim | verdicts | reported by | queries (worst) | first diagnosis |",
    "|---|---|---|---|---|---|---|",
)


def row(entry: Entry, outcomes: list[Outcome]) -> str:
    verdicts = Counter(o.verdict for o in outcomes)
    by = Counter(name for o in outcomes for name in o.reporting)
    queries = [o.queries for o in outcomes]
    said = [o.diagnosis for o in outcomes if o.diagnosis]
    effect = entry.effect + (f" ({entry.source})" if entry.source else "")
    cells = (
        f"`{entry.id}`",
        effect,
        claimed(entry),
        ", ".join(f"{n} {verdict}" for verdict, n in verdicts.most_common()),
        ", ".join(f"{name} {n}" for name, n in by.most_common()) or "-",
        f"{statistics.median(queries):,.0f} ({max(queries):,})",
        said[0] if said else "-",
    )
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def claimed(entry: Entry) -> str:
    """The claim in a few words."""
    told = entry.claim["mechanism"]
    more = ", caching" if told.get("caching") else ""
    return f"{told['name']} {told['noise']}, {told['classes']} x {told['teachers']}{more}"


if __name__ == "__main__":
    main()
