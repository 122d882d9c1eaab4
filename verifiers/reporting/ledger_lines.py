"""What a run has added to its ledger, in lines, for the terminal and the page."""

from ..findings.evidence_text import power_of_ten
from ..findings.figures import LedgerOfCheck, LedgerRun, LedgerScale
from ..text import counted

_SHOWN = 3  # checks whose evidence is nearest to what refutes


def ledger_lines(ledger: LedgerRun) -> list[str]:
    """The run's place in the file, the evidence of all runs, and the scale that they leave."""
    builds = counted(ledger.builds, "build", "builds")
    told = "".join(f"; {words}" for words in ledger.told)
    lines = [f"run {ledger.run} of {ledger.file}, build {ledger.build}, of {builds} so far{told}"]
    nearest = sorted(ledger.checks, key=lambda one: one.threshold_log10 - one.log10_e_value)
    lines += [_of_check(one) for one in nearest[:_SHOWN]]
    if ledger.scale is not None:
        lines.append(_of_scale(ledger.scale))
    return lines


def _of_check(one: LedgerOfCheck) -> str:
    return (
        f"{one.id}: e-value {power_of_ten(one.log10_e_value)} of "
        f"{counted(one.runs, 'run', 'runs')}, {power_of_ten(one.log10_of_run)} of this one; "
        f"{power_of_ten(one.threshold_log10)} refutes"
    )


def _of_scale(scale: LedgerScale) -> str:
    of = f"of {counted(scale.runs, 'run', 'runs')} (confidence 1 - {1.0 - scale.confidence:.2g})"
    if scale.low is None:
        return f"no one scale explains the noise {of}"
    high = "any size" if scale.high is None else f"{scale.high:.5g}"
    return f"scale of the noise: {scale.low:.5g} to {high} times the claimed one, {of}"
