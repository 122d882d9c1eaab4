"""The trend over the runs of a ledger, as one figure: the evidence, and where builds begin."""

from ..findings.figures import LedgerOfCheck
from ..ledger.run_lines import nearest_checks
from ..ledger.standing import KeptLedger
from ..text import counted
from .charts import ACROSS, TOP, UPWARDS, Axis, line_through
from .page import page_environment

_LETTERS = 7.5  # width of a letter of a build's name, in drawing units
_MOST = 2.0
_FEWEST = 6  # runs on the axis, so that its steps are whole
_ROOM = 30.0  # above the axes, for the names of builds


def trend_svg(ledger: KeptLedger) -> str:
    """The SVG of a ledger that has runs: the evidence of all runs over what refutes, run by run.

    Of the three checks whose evidence has come nearest to what refutes; both are logarithms, so
    that 1 refutes.
    """
    names = nearest_checks(ledger)
    lines = {
        name: [
            (run.run, _share(one)) for run in ledger.runs for one in run.checks if one.id == name
        ]
        for name in names
    }
    shares = [share for line in lines.values() for _, share in line]
    last = ledger.runs[-1].run
    x = Axis(0.0, float(max(last, _FEWEST)), *ACROSS)
    y = Axis(min([0.0, *shares]), max([1.0, *shares]) * 1.1, UPWARDS[0], TOP + _ROOM)
    refuted = [run.run for run in ledger.runs if run.refuted]
    runs = counted(len(ledger.runs), "run", "runs")
    builds = counted(ledger.builds, "build", "builds")
    found = f"the claim is refuted in run {refuted[0]}" if refuted else "the claim is not refuted"
    return (
        page_environment()
        .get_template("trend.svg")
        .render(
            title=f"Evidence against the claim over {runs} of {builds}",
            text=f"{found[:1].upper()}{found[1:]}; {', '.join(_newest(lines))}.",
            x=x,
            y=y,
            limit=y.place(1.0),
            lines={name: line_through(x, y, line) for name, line in lines.items()},
            marks={
                name: [(x.place(float(run)), y.place(share)) for run, share in line]
                for name, line in lines.items()
            },
            builds=_builds(ledger, x),
        )
    )


def _share(one: LedgerOfCheck) -> float:
    """Evidence over what refutes, 2 at most; 1 where an earlier run has refuted the claim."""
    share = one.log10_e_value / one.threshold_log10
    return 1.0 if one.since else min(share, _MOST)


def _newest(lines: dict[str, list[tuple[int, float]]]) -> list[str]:
    return [f"{name} at {line[-1][1]:.2f} of what refutes" for name, line in lines.items()]


def _builds(ledger: KeptLedger, x: Axis) -> list[tuple[float, str]]:
    """Where each build begins, and its name where there is room for it."""
    found, free = list[tuple[float, str]](), 0.0
    seen = set[str]()
    for run in ledger.runs:
        if run.build not in seen:
            seen.add(run.build)
            at, name = x.place(float(run.run)), run.build[:12]
            fits = at >= free and at + _LETTERS * len(name) <= x.end + 16.0
            found.append((at, name if fits else ""))
            free = at + _LETTERS * (len(name) + 1) if fits else free
    return found
