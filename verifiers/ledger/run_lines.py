"""The runs of a ledger in lines, one after another, below the two that are compared."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..findings.evidence_text import power_of_ten
from ..text import counted
from .standing import ComparedLedger, KeptLedger, RunInLedger

_SHOWN = 3  # checks whose evidence is nearest to what refutes
_MOST_RUNS = 30
_LONGEST = 20  # of a build


def lines_of_compared(found: ComparedLedger) -> Iterator[str]:
    """Both runs, what became worse, then the runs of each ledger."""
    yield ""
    before, after = found.before, found.after
    for name, side in zip("AB", (before, after), strict=True):
        if side is not None:
            yield f"{name}, {side.as_text()}"
    if before is not None and after is not None and before.claim != after.claim:
        yield "differs: the claim: scales of the noise are not compared"
    yield from (f"worse: {one.message}" for one in found.worse)
    for ledger in found.ledgers:
        yield ""
        yield from _of_ledger(ledger)


def _of_ledger(ledger: KeptLedger) -> Iterator[str]:
    runs = counted(len(ledger.runs), "run", "runs")
    builds = counted(ledger.builds, "build", "builds")
    told = "".join(f"; {words}" for words in ledger.told)
    of = "" if ledger.kind is None else f", claims of {ledger.kind}"
    yield f"{ledger.file}: {runs} of {builds}{of}{told}"
    if not ledger.runs:
        return
    shown = nearest_checks(ledger)
    in_ci = any(run.ci for run in ledger.runs)
    head = ["run", "began, UTC", *(["CI"] if in_ci else []), "build", "verdict", "queries", *shown]
    rows = [_row(run, shown, in_ci=in_ci) for run in ledger.runs[-_MOST_RUNS:]]
    if len(rows) < len(ledger.runs):
        yield f"the newest {len(rows)}, all of them with --json"
    wide = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, wide, strict=True)).rstrip()
    if shown:
        refutes = ", ".join(_refutes(ledger, name) for name in shown)
        yield f"evidence is of all runs up to the line's; it refutes from {refutes}"


def _refutes(ledger: KeptLedger, check: str) -> str:
    """What refutes by a check, which begins anew for less of the error once it has refuted."""
    each = [
        (power_of_ten(one.threshold_log10), run.run)
        for run in ledger.runs
        for one in run.checks
        if one.id == check
    ]
    later = [f"{now} from run {run}" for (last, _), (now, run) in pairwise(each) if now != last]
    return f"{check} {each[0][0]}" + (f" ({', '.join(later)})" if later else "")


def nearest_checks(ledger: KeptLedger) -> list[str]:
    """The checks whose evidence has come nearest to what refutes, the nearest first."""
    nearest: dict[str, float] = {}
    for one in (one for run in ledger.runs for one in run.checks):
        share = one.log10_e_value / one.threshold_log10
        nearest[one.id] = max(share, nearest.get(one.id, share))
    return sorted(nearest, key=lambda name: -nearest[name])[:_SHOWN]


def _row(run: RunInLedger, shown: Sequence[str], *, in_ci: bool) -> list[str]:
    evidence = {
        one.id: "stands" if one.since else power_of_ten(one.log10_e_value) for one in run.checks
    }
    cells = [evidence.get(name, "-") for name in shown]
    ci = [run.ci or "-"] if in_ci else []
    verdict = "did not end" if run.verdict is None else run.verdict.value
    began = f"{run.began:%Y-%m-%d %H:%M}"
    return [f"{run.run}", began, *ci, run.build[:_LONGEST], verdict, f"{run.queries:,}", *cells]
