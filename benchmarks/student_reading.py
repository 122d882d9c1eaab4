"""What docs/results/student.md reads from its table, with intervals for what it compares."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from dpassay.attacks.inference.mitigations import over_seeds

Found = dict[tuple[str, str, float, int], dict[str, Any]]


def seeds_of(found: Found, data: str, what: str, budget: float, key: str) -> np.ndarray[Any, Any]:
    """One figure of every seed."""
    keys = sorted(k for k in found if k[:3] == (data, what, budget))
    return np.array([found[k][key] for k in keys], dtype=float)


def reading(found: Found, settings: dict[str, Any], data: list[str]) -> Iterator[str]:
    """What the table says, in figures of its own; what is compared is compared seed by seed."""
    yield (
        "\nComparisons below are differences seed by seed, with Student's interval of 95 % for "
        "their mean: over splits, noise and students, of the same teachers. Each interval stands "
        "for itself."
    )
    for name in data:
        setting, most = settings[name], settings[name].budgets[-1]

        def of(mechanism: str, key: str, n: str = name, b: float = most) -> Any:
            return 100 * seeds_of(found, n, mechanism, b, key)

        own = list(setting.mechanisms)
        best = max(own, key=lambda m: float(of(m, "accuracy").mean()))
        behind = [
            f"{m} by {_apart(of(best, 'accuracy') - of(m, 'accuracy'))}" for m in own if m != best
        ]
        gains = [f"{m} {_apart(of(m, 'accuracy') - of(m, 'alone'))}" for m in own]
        below = [
            f"{m} at {b:g}"
            for m in own
            for b in setting.budgets
            if _told_below(
                seeds_of(found, name, m, b, "upper") - seeds_of(found, name, m, b, "epsilon")
            )
        ]
        yield (
            f"\n**{name}**: at epsilon {most:g} the best on average is {best} with "
            f"{of(best, 'accuracy').mean():.1f} %, before {', '.join(behind)} points; always "
            "saying the class most frequent among private records is right in "
            f"{of(own[0], 'majority').mean():.1f} %. Records without a label add, in points at "
            f"that epsilon: {', '.join(gains)}. {_student_and_votes(of, best)} "
            + (
                "The bound at the votes lies, the interval too, below what is charged whatever "
                f"they are for {', '.join(below)}."
                if below
                else "The bound at the votes never helps here: too few teachers agree too little."
            )
        )


def _student_and_votes(of: Any, best: str) -> str:
    """Whether the student is better than what taught it, which the paper's is."""
    without = _apart(of(best, "accuracy") - of(best, "votes"))
    noisy = _apart(of(best, "accuracy") - of(best, "noisy votes"))
    return (
        f"On the same records the teachers' votes are right in {of(best, 'votes').mean():.1f} %, "
        f"with the noise of a query in {of(best, 'noisy votes').mean():.1f} %: the student less "
        f"the votes is {without}, less the noisy ones {noisy}."
    )


def _apart(differences: Any) -> str:
    """A mean difference (n,) in points, with its interval."""
    found = over_seeds(differences)
    value, low, high = (round(x, 1) + 0.0 for x in (found.value, found.low, found.high))
    return f"{value:+.1f} ({low:+.1f} to {high:+.1f})"  # without the sign of a nought below


def _told_below(differences: Any) -> bool:
    """Whether the interval of the mean difference (n,) lies below nought."""
    return bool(over_seeds(differences).high < 0.0)
