"""What docs/results/mitigations.md comes to, in words."""

from collections.abc import Iterator


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
