"""A chain at the terminal: lines for each part."""

import click

from ...attacks.inference.chain import Chain
from ...attacks.inference.measures import Estimate
from ..text import counted, printable


def print_chain(found: Chain) -> None:
    """Prints the chain on stdout, part by part."""
    for line in lines(found):
        click.echo(printable(line))


def lines(found: Chain) -> list[str]:
    """One line for each main figure; the report has all of them."""
    consensus, setting, task = found.consensus, found.setting, found.people.task
    messages = [
        f"{task.name}: {setting.teachers} teachers ({setting.learner}) trained on "
        f"{len(task.records):,} records, asked about {len(task.queries):,}; GNMax, sigma "
        f"{setting.sigma:g}",
        f"teachers: {_percent(consensus.teacher_accuracy)} right one by one, "
        f"{_percent(consensus.plurality_accuracy)} by plurality; "
        f"consensus {_percent(consensus.consensus)}",
        f"epsilon is at delta {setting.delta:g}, and of the records that teachers are trained on: "
        "it protects nobody who is asked about",
        "areas are under the curve, 0.5 is a guess; in brackets, intervals of 95 %",
        "",
        f"student, on people it never saw ({_percent(found.baseline)} without privacy):",
    ]
    for (name, budget), taught in found.students.items():
        messages.append(
            f"  {name}, epsilon at most {budget:g}: {counted(taught.given, 'label', 'labels')}, "
            f"{_percent(taught.accuracy)} right, epsilon {taught.answers.epsilon:.2f} spent"
        )
    attribute = found.people.attribute
    messages += [
        "",
        f"who has {attribute} ({found.people.hidden.sum()} people), by who sees votes:",
    ]
    for name, one in found.direct.items():
        messages.append(
            f"  {name}: area {with_interval(one.auc)}, flags {_percent(one.recall.value)} of them "
            f"and {_percent(one.false_positive_rate.value)} of the others"
        )
    messages.append("by who sees answers alone, and reads the votes from them:")
    for end in found.through:
        answers = counted(end.cell.queries, "answer", "answers")
        messages.append(
            f"  {answers} about each: {_percent(end.misplaced)} of the votes misplaced, area "
            f"{with_interval(end.through.auc)}, epsilon {end.cost.person:.2f}"
        )
    messages += _of_members(found) + _of_mitigations(found)
    return messages


def _of_members(found: Chain) -> list[str]:
    if not found.members:
        return []
    messages = ["", "who was a training record, found at 1 % false alarms:"]
    for member in found.members:
        seen, bound = "from the votes", "no bound: votes are not private"
        if member.labels is not None:
            seen = f"from {counted(member.labels, 'label', 'labels')}"
        if member.bound is not None:
            bound = f"epsilon allows up to {_percent(member.bound)}"
        messages.append(f"  {seen}: {_percent(member.tpr.value)} of members ({bound})")
    return messages


def _of_mitigations(found: Chain) -> list[str]:
    if not found.settings:
        return ["", "what a deployment can do is measured between two classes alone"]
    messages = ["", "what a deployment can do, against the attack through answers:"]
    for helped in found.settings:
        taught = helped.student
        student = "" if taught is None else f", a student right on {_percent(taught.value)}"
        messages.append(
            f"  {helped.setting.name}: {_percent(helped.misplaced.value)} of the votes misplaced, "
            f"area {helped.auc.value:.3f}; {_percent(helped.utility.answered)} answered, "
            f"{_percent(helped.utility.plurality)} as most teachers say{student}; "
            f"epsilon {helped.spent.person:.2f}"
        )
    return messages


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def with_interval(found: Estimate) -> str:
    """An estimate with the ends of its interval in brackets."""
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"
