"""Servers as they are in production: rate limits, secrets, refusals of their own, busy ones."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import numpy as np
import pytest
from claims import gnmax
from one_call import HISTOGRAM, ask

from dpassay.reference import BudgetExhausted
from dpassay.reference.clock import OutOfTime, run_clock
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import HttpOptions, Refused, TargetError, open_target

MECHANISM = gnmax(40, 3, 50)


def answering(statuses: list[int], retry_after: str | None = None) -> Any:
    """Answers with the statuses given, then as asked."""

    def handle(handler: Any) -> None:
        status = statuses.pop(0) if statuses else 200
        body = json.dumps({"labels": [0] * 5} if status == 200 else {"error": "later"}).encode()
        handler.send_response(status)
        if retry_after is not None:
            handler.send_header("Retry-After", retry_after)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return handle


def test_a_rate_limit_is_waited_for(served) -> None:
    """Catches a budget taken for spent where the server says when to come again."""
    server = served(answering([429, 429], "0"))
    target = open_target(server.url, 5.0)
    assert ask(target).tolist() == [0] * 5
    assert len(server.asked) == 3
    target.close()


@pytest.mark.slow("over half a second")
def test_a_date_is_waited_for_too(served) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=1), usegmt=True)
    target = open_target(served(answering([429], soon)).url, 5.0)
    assert ask(target).tolist() == [0] * 5
    target.close()


@pytest.mark.parametrize("retry_after", [None, "soon", "-1"])
def test_without_a_time_429_is_a_spent_budget(served, retry_after) -> None:
    """Whoever meant a limit of the rate is told what the server said, and the key for it."""
    target = open_target(served(answering([429], retry_after)).url, 5.0)
    with pytest.raises(BudgetExhausted, match=r"retry_429 = true in \[http\] .*: later"):
        ask(target)
    target.close()


def test_a_claim_takes_429_for_a_limit_of_the_rate(served, monkeypatch) -> None:
    """Pauses double: a server that said nothing of when is not asked ever faster than it allows."""
    monkeypatch.setattr("dpassay.verifiers.targets.http_options._LONGEST_PAUSE", 0.01)
    claim = parse_claim({"mechanism": MECHANISM, "http": {"retry_429": True}})
    assert claim.http_options.pause(429, None, 0) == 0.01
    server = served(answering([429, 429]))
    target = open_target(server.url, 5.0, http=claim.http_options)
    assert ask(target).tolist() == [0] * 5
    assert len(server.asked) == 3
    target.close()
    monkeypatch.setattr("dpassay.verifiers.targets.http_options._LONGEST_PAUSE", 60.0)
    pauses = [claim.http_options.pause(429, None, tries) for tries in range(8)]
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]


def test_what_a_server_said_of_its_budget_is_in_the_report(served) -> None:
    claim = parse_claim({"mechanism": MECHANISM})
    target = open_target(served(answering([429] * 9)).url, 5.0)
    report = verify(target, claim, seed=0)
    target.close()
    (found,) = {check.message for check in report.checks if check.code == "budget-exhausted"}
    assert "retry_429 = true in [http]" in found
    assert "later" in found


def test_waiting_ends_with_the_time_of_the_run(served) -> None:
    target = open_target(served(answering([429] * 9, "60")).url, 5.0)
    with pytest.raises(OutOfTime, match=r"run_timeout = 0\.3 s"), run_clock(0.3):
        ask(target)
    target.close()


def test_nobody_is_waited_for_forever(served, monkeypatch) -> None:
    monkeypatch.setattr("dpassay.verifiers.targets.http_call.MOST_WAITED", 2.0)
    target = open_target(served(answering([429] * 9, "3")).url, 5.0)
    with pytest.raises(TargetError, match="status 429 again"):
        ask(target)
    target.close()


@pytest.mark.parametrize(("repeats", "asked"), [(False, 1), (True, 2)])
def test_a_busy_server_is_asked_again_only_where_the_claim_says_so(served, repeats, asked) -> None:
    server = served(answering([503], "0"))
    target = open_target(server.url, 5.0, http=HttpOptions(retry_503=repeats))
    if repeats:
        assert ask(target).tolist() == [0] * 5
    else:
        with pytest.raises(TargetError, match="HTTP status 503"):
            ask(target)
    assert len(server.asked) == asked
    target.close()


def test_secrets_come_from_the_environment(served, monkeypatch) -> None:
    claim = parse_claim(
        {"mechanism": MECHANISM, "http": {"headers": {"Authorization": "DPASSAY_TEST_TOKEN"}}}
    )
    with pytest.raises(TargetError, match=r"DPASSAY_TEST_TOKEN.* not set"):
        open_target("http://127.0.0.1:1", 5.0, http=claim.http_options)
    monkeypatch.setenv("DPASSAY_TEST_TOKEN", "two\nlines")
    with pytest.raises(TargetError, match=r"DPASSAY_TEST_TOKEN.* header") as raised:
        open_target("http://127.0.0.1:1", 5.0, http=claim.http_options)
    assert "two" not in str(raised.value)
    monkeypatch.setenv("DPASSAY_TEST_TOKEN", "Bearer kept")
    server = served(answering([]))
    target = open_target(server.url, 5.0, http=claim.http_options)
    ask(target)
    target.close()
    assert server.asked[0][3]["Authorization"] == "Bearer kept"
    assert "kept" not in json.dumps(claim.model_dump(mode="json"))


@pytest.mark.slow("a whole run over HTTP; its options are tested one by one")
def test_a_whole_run_has_a_claim_with_its_tables(served, monkeypatch) -> None:
    """Catches a claim that cannot be the key of a plan: its table of headers is a dict."""
    monkeypatch.setenv("DPASSAY_TEST_TOKEN", "Bearer kept")
    noise = np.random.default_rng(0)

    def handle(handler: Any) -> None:
        if handler.path != "/aggregate":
            handler.send_response(404)
            handler.end_headers()
            return
        asked = server.asked[-1][2]
        votes = np.array(asked["histogram"])
        labels = (votes + noise.normal(0.0, 40.0, (asked["size"], 3))).argmax(1).tolist()
        body = json.dumps({"labels": labels}).encode()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    server = served(handle)
    http = {"headers": {"Authorization": "DPASSAY_TEST_TOKEN"}, "refusal_status": [422, 400]}
    gate = {"max_queries": 200}  # the plan comes first, and is all that this is about
    claim = parse_claim({"mechanism": MECHANISM, "http": http, "gate": gate})
    target = open_target(server.url, 5.0, http=claim.http_options)
    report = verify(target, claim, seed=1)
    target.close()
    assert (report.verdict, report.queries) == ("inconclusive", 200)
    assert "kept" not in json.dumps(report.public()["claim"])


@pytest.mark.parametrize("written", ["Bearer s3cret", "s3cret"])
def test_a_value_in_place_of_its_variable_is_not_shown(written: str) -> None:
    """The message named it, and CI keeps what is printed."""
    table = {"mechanism": MECHANISM, "http": {"headers": {"Authorization": written}}}
    with pytest.raises((ClaimError, TargetError), match=r"headers.*Authorization") as raised:
        open_target("http://127.0.0.1:1", 5.0, http=parse_claim(table).http_options)
    assert "s3cret" not in str(raised.value)


def test_statuses_refuse_where_the_claim_says_so(served) -> None:
    server = served(answering([400] * 9))
    target = open_target(server.url, 5.0, http=HttpOptions(refusal_status=(400,)))
    with pytest.raises(Refused, match="later"):
        ask(target)
    target.close()


@pytest.mark.parametrize("table", [{"headers": {"bad name": "X"}}, {"refusal_status": [200]}])
def test_a_wrong_table_is_one_line(table) -> None:
    with pytest.raises(ClaimError, match=r"claim: http\."):
        parse_claim({"mechanism": MECHANISM, "http": table})


def test_the_largest_call_is_found_from_the_first_refusal(served) -> None:
    """A server that serves at most seven labels per call is asked for no more; and a histogram
    that it refuses is refused whatever the size, without making later calls smaller."""
    sizes: list[int] = []

    def handle(handler: Any) -> None:
        asked = server.asked[-1][2]
        sizes.append(asked["size"])
        refused = asked["size"] > 7 or asked["histogram"][0] == 1
        body = json.dumps({"error": "no"} if refused else {"labels": [0] * asked["size"]}).encode()
        handler.send_response(422 if refused else 200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    server = served(handle)
    target = open_target(server.url, 5.0)
    assert target.ask(HISTOGRAM, 64).shape == (64,)
    assert max(sizes[sizes.index(4) :]) <= 7
    assert sum(size for size in sizes if size <= 7) == 64
    served_before = len(sizes)
    with pytest.raises(Refused):
        target.ask(np.array([1, 30, 19]), 64)
    assert len(sizes) == served_before + 1
    target.ask(HISTOGRAM, 8)
    assert sizes[-2:] == [4, 4]
    target.close()
