"""The command `dpassay reconstruct`: from what a user has, labels or counts, to answers."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..attacks import Answers, Method, Reconstruction, reconstruct
from ..reference import ConfidentGNMax, Gaussian, NoisyArgmax, parse_noise
from .label_log import read_labels

MOST_CLASSES = 1000


@dataclass(frozen=True)
class Reading:
    """What was read from one query's answers, and what to say about it."""

    reconstruction: Reconstruction
    warnings: list[str]

    def as_json(self) -> dict[str, Any]:
        """The public form: whole votes where the method gives them."""
        read = self.reconstruction
        whole = read.method == "posterior"
        return {
            "histogram": [int(v) if whole else float(v) for v in read.histogram],
            "interval": [[int(low), int(high)] for low, high in read.interval],
            "queries": int(read.queries),
            "method": read.method,
            "misplaced": [float(share) for share in read.misplaced],
            "converged": bool(read.converged),
        }

    def as_text(self) -> str:
        """A table for people: votes per class with 95 % intervals."""
        read = self.reconstruction
        share, low, high = (f"{100 * value:.1f}" for value in read.misplaced)
        lines = [
            f"{int(read.queries):,} queries read by {read.method}: about {share} % of the "
            f"{read.teachers:,} votes misplaced ({low} to {high} %)",
            "class     votes  95 % interval",
        ]
        for label, (votes, ends) in enumerate(zip(read.histogram, read.interval, strict=True)):
            lines.append(f"{label:5}  {votes:8.1f}  {ends[0]} to {ends[1]}")
        return "\n".join(lines)


def reconstruct_votes(
    labels: str | None,
    counts: str | None,
    *,
    classes: int | None,
    mechanism: tuple[str, float | None, str | None],
    teachers: int,
    method: Method,
) -> Reading:
    """Reads the votes from a log of labels (a path, stdin when None) or from counts.

    mechanism: noise, threshold and threshold's noise, as the command's options give them.
    Raises ValueError of one line for the user.
    """
    attacked = attacked_mechanism(*mechanism)
    warnings = []
    if counts is not None:
        answers = answers_from_counts(counts, attacked)
    else:
        answers, left_out = answers_from_log(labels or "-", classes, attacked)
        if left_out:
            warnings.append(f"{left_out:,} refusals left out: --threshold would read them too")
    found = reconstruct(answers, teachers, method)
    if not found.converged:
        warnings.append(f"{method} did not converge")
    return Reading(found, warnings)


def attacked_mechanism(
    noise: str, threshold: float | None, threshold_noise: str | None
) -> NoisyArgmax | ConfidentGNMax:
    """The mechanism that options describe. Raises ValueError naming the option."""
    family = parse_noise(noise)
    if threshold is None and threshold_noise is None:
        return NoisyArgmax(family)
    if threshold is None or threshold_noise is None:
        raise ValueError("--threshold and --threshold-noise belong together: give both or neither")
    screen = parse_noise(threshold_noise)
    if not isinstance(family, Gaussian) or not isinstance(screen, Gaussian):
        raise ValueError("--threshold takes gaussian noise in --noise and --threshold-noise")
    return ConfidentGNMax(family, threshold, screen)


def answers_from_counts(text: str, mechanism: NoisyArgmax | ConfidentGNMax) -> Answers:
    """Answers from `n0,n1,...`. Raises ValueError that shows the offending part."""
    counts = []
    for part in text.split(","):
        if not (part.strip().isdecimal() and part.isascii()):
            raise ValueError(
                f"--counts {text!r}: {part.strip()!r} is no count: expected a number from 0"
            )
        counts.append(float(part))
    try:
        return Answers(np.array(counts), mechanism)
    except ValueError as error:
        raise ValueError(f"--counts {text!r}: {error}") from None


def answers_from_log(
    path: str, classes: int | None, mechanism: NoisyArgmax | ConfidentGNMax
) -> tuple[Answers, int]:
    """Answers from a log of labels (`-` is stdin), and how many refusals were left out.

    Refusals are left out where the mechanism has no threshold: what is answered has the same law.
    Raises ValueError naming the file, the line and what is allowed.
    """
    source = "stdin" if path == "-" else path
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text()
    except OSError as error:
        raise ValueError(f"{source}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{source}: not a text file") from None
    labels = read_labels(text.splitlines(), source)
    found = max(labels) + 1
    classes = max(found, 2) if classes is None else classes
    if found > classes:
        raise ValueError(f"{source}: label {found - 1} of --classes {classes}")
    if classes > MOST_CLASSES:
        raise ValueError(f"{source}: label {found - 1}: expected at most {MOST_CLASSES} classes")
    kept = labels if isinstance(mechanism, ConfidentGNMax) else [x for x in labels if x >= 0]
    return Answers.tally(kept, classes, mechanism), len(labels) - len(kept)
