"""The child process of a Python target: `python -m dpassay.verifiers.targets.worker SPEC`.

A second argument gives the kind of values: `tensors:[[4, 3], [3]]` is a list of arrays (n, 4, 3)
and (n, 3), `records:[[3]]` an array (n, 3), `rows:"pandas"` a frame.

It speaks the protocol of `exec:` targets, one JSON object per line. What the target prints goes to
stderr, as stdout is for the protocol.
"""

import copy
import json
import os
import signal
import sys
from typing import Any

import numpy as np

from ...reference import BudgetExhausted
from .batches import BatchRelease
from .frames import argument_of_rows, plain_tables
from .in_process import InProcessTarget
from .json_target import BUDGET_ERROR
from .labels import LABELS, argument_of, label_array
from .numbers import argument_of_values
from .release import Release
from .replies import CallError, NotOffered, Refused, TargetError, no_numbers, plain_json
from .spec import load
from .sql import SqlQuery
from .tables import TableRelease
from .tally import is_whole_number, no_text

BATCHES = BatchRelease()


def main(spec: str, takes: str = "") -> None:
    """Loads the target, then answers requests until stdin ends."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # ignored, it would not end what a target starts
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    folder, environment = os.getcwd(), dict(os.environ)

    def reply(message: dict[str, Any]) -> None:
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    sys.path.insert(0, folder)
    try:
        target = InProcessTarget(load(spec), release=_release_for(takes))
    except (TargetError, ValueError) as error:
        if not isinstance(error, TargetError):
            error = TargetError(f"{spec}: {error}", code="target-not-found")
        reply({"error": str(error), "code": error.code})
        return
    reply({"ready": spec})
    for line in sys.stdin:
        request = json.loads(line)
        if request["call"] == "restart":
            _begin_again(replies.fileno(), folder, environment)
        reply(_answer(target, request, takes))


def _release_for(takes: str) -> Release:
    """Says what a target is called as, where that is not what it is; see `Release.function`."""
    form = takes.removeprefix("rows:")
    if form != takes:
        return TableRelease((), (), SqlQuery.read(form) if form[0] == "{" else json.loads(form))
    return BATCHES if takes == BATCHES.word else LABELS


def _begin_again(replies: int, folder: str, environment: dict[str, str]) -> None:
    """Replaces this process with a new interpreter, which keeps the process id.

    So a seed made from the process id is repeated, as it is in a container.
    """
    if os.getpgrp() == os.getpid():  # what the target started, in the session that we lead
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.chdir(folder)
    os.dup2(replies, 1)
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)


def _answer(target: InProcessTarget, request: dict[str, Any], takes: str) -> dict[str, Any]:
    try:
        return _result(target, request, takes)
    except NotOffered as lack:
        return {"error": str(lack), "lacking": True}
    except BudgetExhausted:
        return {"error": BUDGET_ERROR}
    except Refused as refusal:
        return {"error": str(refusal)}
    except CallError as error:
        # the call is named where it was made
        return {"error": error.message, "fault": error.code}


def _result(target: InProcessTarget, request: dict[str, Any], takes: str) -> dict[str, Any]:
    """The target's reply to one request; raises as the target does."""
    if request["call"] == "spent":
        return {"spent": _number(target.spent(request["delta"]))}

    def given() -> Any:
        if "data" in request:
            return copy.deepcopy(request["data"])
        if "rows" in request:
            return argument_of_rows(request["rows"], takes)
        if "values" in request:
            return argument_of_values(request["values"], takes, request.get("type"))
        return argument_of(request)

    if request["call"] == "rdp":
        answered = request.get("answered")
        return _charge(target.charge(given, request["orders"], "rdp", answered))
    if request["call"] == BATCHES.call:
        return {BATCHES.reply: target.answer(lambda: None, 1, BATCHES.call)}
    size = request["size"]
    plain = {"data": plain_json, "rows": plain_tables, "values": _plain_releases}
    for key, made in plain.items():
        if key in request:
            return {"releases": made(target.answer(given, size, "aggregate"))}
    found = label_array(target.answer(given, size, "aggregate"), size, "aggregate")
    return {LABELS.reply: found.tolist()}


def _charge(reply: Any) -> dict[str, Any]:
    """A charge as JSON, with the orders that it names, if any."""
    if isinstance(reply, dict) and set(reply) == {"orders", "rdp"}:
        return {key: _plain(_floats(value)) for key, value in reply.items()}
    return {"rdp": _plain(_floats(reply))}


def _floats(reply: Any) -> Any:
    """The reply as an array of floats, None as nan; the reply itself where it is none."""
    try:
        return np.asarray(reply, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return reply


def _plain_releases(reply: Any) -> Any:
    """Releases as JSON: rounds, lists of keys, or numbers; anything else as text, to be refused."""
    if isinstance(reply, list | tuple):
        each = [one for some in reply if isinstance(some, list | tuple) for one in some]
        if any(isinstance(one, dict) for one in (*reply, *each)):
            return plain_json(reply, no_text, (list, tuple))
        listed = all(isinstance(some, list | tuple) for some in reply)
        if listed and each and all(map(is_whole_number, each)):
            # not by way of an array, which would round numbers from 2^63 on
            return [[int(found) for found in release] for release in reply]
    return _plain(reply)


def _number(reply: Any) -> Any:
    """A number as JSON; anything else as its text, to be refused."""
    return float(reply) if isinstance(reply, int | float | np.number) else repr(reply)[:60]


def _plain(reply: Any) -> Any:
    """The reply as JSON; anything but an array of numbers as its text, to be refused."""
    try:
        array = np.asarray(reply)
    except Exception:
        return no_numbers(reply)
    return array.tolist() if array.dtype.kind in "iuf" else no_numbers(reply)


if __name__ == "__main__":
    main(*sys.argv[1:])
