"""How `dpassay chain --votes` and `--log` are shown at the terminal."""

import click

from ...attacks.inference.measures import Estimate
from ..commands.own_people import DELTA, OwnPeople
from ..text import counted, printable
from .chain import of_linkage, percent, with_interval


def print_own_people(found: OwnPeople) -> None:
    """Prints what votes and answers say of people on stdout."""
    for line in lines(found):
        click.echo(printable(line))


def lines(found: OwnPeople) -> list[str]:
    """One line for each main figure."""
    some, many = int(found.people.positive.sum()), len(found.people)
    lines = [
        f"{many:,} people, {some:,} of whom have {found.people.attribute} "
        f"({percent(some / many)}); {found.teachers:,} votes on each",
        f"epsilon is at delta {DELTA:g}, and of the records that teachers are trained on: it "
        "protects nobody who is asked about",
        "areas are under the curve, 0.5 is a guess; in brackets, intervals of 95 %",
        f"saying of everybody what most are is right in {percent(max(some, many - some) / many)}",
    ]
    if found.votes is not None:
        lines += ["", "by who sees the votes:"]
        for name, one in found.votes.attacks.items():
            lines.append(
                f"  {name}: area {with_interval(one.auc)}, "
                f"{_flags(one.recall, one.false_positive_rate)}"
            )
        if found.votes.within is not None:
            within = with_interval(found.votes.within)
            lines.append(f"  among people of one label, beyond what the label says: area {within}")
        lines += ["", "by who sees answers alone, simulated from these votes:"]
        for end in found.through:
            answers = counted(end.cell.queries, "answer", "answers")
            lines.append(
                f"  {answers} about each: {percent(end.misplaced)} of the votes misplaced, area "
                f"{with_interval(end.through.auc)}, epsilon {end.cost.person:.2f}"
            )
    if found.log is not None:
        lines += ["", *_of_log(found)]
    return lines + of_linkage(found.linkage)


def _of_log(found: OwnPeople) -> list[str]:
    log = found.log
    assert log is not None
    about = f"{log.fewest:,}" if log.fewest == log.most else f"{log.fewest:,} to {log.most:,}"
    read = "" if log.misplaced is None else f"{percent(log.misplaced)} of the votes misplaced, "
    lines = [
        f"by who sees the log, {log.answers:,} answers about {log.people:,} people, {about} each:",
        f"  votes read from them: {read}area {with_interval(log.found.auc)}, "
        f"{_flags(log.found.recall, log.found.false)}",
        f"  {counted(log.most, 'answer', 'answers')} about one person cost epsilon "
        f"{log.epsilon:.2f}, whatever the votes",
    ]
    if found.missing:
        lines.append(f"  the log has no answer about {found.missing:,} people of the file")
    return lines


def _flags(recall: Estimate, false: Estimate) -> str:
    return f"flags {percent(recall.value)} of them and {percent(false.value)} of the others"
