"""The user's own rules for a verdict: `require`, `strict`, `fail_on` and `allow` of `[gate]`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..claims.tables import Gate
from .codes import codes
from .note import Note
from .report import CheckResult
from .verdict import Verdict, worst

_CONTRACT = "input-contract"


@dataclass(frozen=True)
class Ruled:
    """What the rules make of the results of a run.

    checks: the results; verdict: of the run; waived: codes that would have failed it, but for
    `allow`; lacking: required checks that did not pass, each with its verdict.
    """

    checks: tuple[CheckResult, ...]
    verdict: Verdict
    waived: tuple[str, ...]
    lacking: tuple[Note, ...]


def ruled(gate: Gate, checks: Iterable[CheckResult], notes: Sequence[Note]) -> Ruled:
    """Applies the rules of a gate to the results of a run and its warnings.

    A warning of class `defect` fails under `strict`: it is a proof, or has had a share of
    `false_alarm` from the start. What `fail_on` lists fails wherever the code stands, by a rule of
    the user's, which the error rate does not cover. `require` names the checks without whose pass a
    run is inconclusive, and leaves the other inconclusive ones out of its verdict.
    """
    found = {one.id: one for one in checks}
    waived = dict[str, None]()
    told = [(_check_of(note.code, found), note, gate.strict and _is_defect(note)) for note in notes]
    for one in tuple(found.values()):
        if one.code is not None and one.verdict is not Verdict.FAIL:
            told.append((one.id, Note(one.code, one.message, one.fields), False))
    told.sort(key=lambda one: not one[2])  # an accusation is not hidden by a rule
    for check, note, defect in told:
        if not (defect or note.code in gate.fail_on):
            continue
        if note.code in gate.allow:
            waived[note.code] = None
            continue
        found[check] = _failed(found[check], note, "strict" if defect else "fail_on")
    results = tuple(found.values())
    required = [found[name] for name in gate.require]
    lacking = tuple(_lacks(one) for one in required if one.verdict is not Verdict.PASS)
    verdict = worst(one.verdict for one in results)
    if gate.require and verdict in (Verdict.INCONCLUSIVE, Verdict.PASS):
        verdict = Verdict.INCONCLUSIVE if lacking else Verdict.PASS
    return Ruled(results, verdict, tuple(waived), lacking)


def _is_defect(note: Note) -> bool:
    return note.code in codes() and codes()[note.code].what == "defect"


def _check_of(code: str, found: Iterable[str]) -> str:
    """The check of this run that a warning belongs to: the first on whose page its code stands."""
    of = codes()[code].checks if code in codes() else ()
    return next((name for name in of if name in found), _CONTRACT)


def _failed(result: CheckResult, note: Note, rule: str) -> CheckResult:
    """The result of a check that fails by a rule; one that has failed keeps its own finding."""
    if result.verdict is Verdict.FAIL:
        return result
    failed = result.without_pass(Verdict.FAIL, note, f"by your {rule}: {note.message}")
    return failed.model_copy(update={"rule": rule})


def _lacks(result: CheckResult) -> Note:
    message = f"required, and {result.verdict}: {result.id} ({result.message})"
    return Note(
        "required-not-passed", message, {"check": result.id, "verdict": str(result.verdict)}
    )
