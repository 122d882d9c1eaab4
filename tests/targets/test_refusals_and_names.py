"""Answers in the words of a service: refusals by status, null or a word, and classes by name."""

from itertools import cycle
from typing import Any

import numpy as np
import pytest
from claims import COARSE, SMALL, histogram
from http_server import replying
from one_call import HISTOGRAM

from dpassay.reference import REFUSAL
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.claims.open_target import open_claimed
from dpassay.verifiers.findings.verdict import Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import Refused, Target, TargetError

SCREENED = SMALL | {
    "name": "confident-gnmax",
    "threshold": 20,
    "threshold_noise": "gaussian:10",
    "classes": 3,
}
PLAIN = SMALL | {"classes": 3}
NAMES = ["cat", "dog", "eel"]
ALONE = {"body": '{"votes": {{histogram}}}', "answer": "/label"}
REFUSING: dict[str, tuple[dict[str, Any], int, Any]] = {
    "204": ({"refusal_status": [204]}, 204, b""),
    "409": ({"refusal_status": [422, 409]}, 409, {"error": "no consensus"}),
    "null": ({"refusal_answers": ["null"]}, 200, {"label": None}),
    "word": ({"refusal_answers": ['"none"']}, 200, {"label": "none"}),
    "number": ({"refusal_answers": ["-1"]}, 200, {"label": -1}),
}
"""`[http]`, status and body of a refusal."""


def opened(server: Any, mechanism: Any, **http: Any) -> Target:
    return open_claimed(server.url, parse_claim({"mechanism": mechanism, "http": http}))


def in_turn(*replies: Any) -> Any:
    """A handler that sends these (status, body) in turn, over and over."""
    made = [replying(body, status) for status, body in replies]
    turns = cycle(made)

    def handle(handler: Any) -> None:
        next(turns)(handler)

    return handle


@pytest.mark.parametrize("way", REFUSING)
def test_a_refused_query_is_minus_one_under_a_threshold(way, served) -> None:
    """Catches a refusal that ends the calls beside it, or that is taken for one of the input."""
    http, status, body = REFUSING[way]
    server = served(in_turn((status, body), (200, {"label": "dog"})))
    target = opened(server, SCREENED, labels=NAMES, **ALONE, **http)
    assert target.ask(HISTOGRAM, 6).tolist() == [REFUSAL, 1] * 3
    assert len(server.asked) == 6
    target.close()


@pytest.mark.parametrize("way", REFUSING)
def test_it_is_the_input_that_is_refused_where_no_query_is(way, served) -> None:
    http, status, body = REFUSING[way]
    target = opened(served(replying(body, status)), PLAIN, labels=NAMES, **ALONE, **http)
    with pytest.raises(Refused):
        target.ask(HISTOGRAM, 1)
    target.close()


@pytest.mark.parametrize("status", [400, 422])
def test_a_wrong_request_refuses_the_input_under_a_threshold_too(status, served) -> None:
    """A total that a deployment does not serve is not a query that its mechanism refused."""
    server = served(replying({"error": "no such total"}, status))
    target = opened(server, SCREENED, refusal_status=[400, 422, 409], **ALONE)
    with pytest.raises(Refused, match="no such total"):
        target.ask(HISTOGRAM, 1)
    target.close()


def test_lists_and_the_protocol_have_them_too(served) -> None:
    reply = {"labels": ["eel", None, "cat", "dog", None]}
    target = opened(served(replying(reply)), SCREENED, labels=NAMES, refusal_answers=["null"])
    assert target.ask(HISTOGRAM, 5).tolist() == [2, REFUSAL, 0, 1, REFUSAL]
    target.close()


def test_a_call_for_several_that_is_refused_as_a_whole_is_asked_smaller(served) -> None:
    """One null for many queries tells nothing of each."""

    def handle(handler: Any) -> None:
        size = handler.content["size"]
        replying({"labels": [0] * size if size <= 2 else None})(handler)

    target = opened(served(handle), SCREENED, refusal_answers=["null"])
    assert target.ask(HISTOGRAM, 8).tolist() == [0] * 8
    target.close()


def test_names_may_be_numbers(served) -> None:
    """Classes counted from 1."""
    server = served(replying({"labels": [3, 1, 2]}))
    target = opened(server, PLAIN, labels=[1, 2, 3])
    assert target.ask(HISTOGRAM, 3).tolist() == [2, 0, 1]
    target.close()


@pytest.mark.parametrize("label", ["bird", 0, True, None, 1.0])
def test_what_is_no_name_is_one_line(label, served) -> None:
    target = opened(served(replying({"labels": [label]})), PLAIN, labels=["cat", "dog", 1])
    with pytest.raises(TargetError, match=r'at place 0: expected one of "cat", "dog", 1') as raised:
        target.ask(HISTOGRAM, 1)
    assert raised.value.code == "reply-malformed"
    target.close()


@pytest.mark.parametrize(
    ("http", "words"),
    [
        ({"labels": ["cat", "dog"]}, "http.labels: 2 names of 3 classes"),
        ({"labels": ["cat", "dog", "cat"]}, 'labels and refusal_answers: "cat" .* twice'),
        ({"labels": NAMES, "refusal_answers": ['"eel"']}, '"eel" stands there twice'),
        ({"labels": ["cat", "dog", 1.5]}, "a text or a whole number for each class"),
        ({"labels": ["cat", "dog", True]}, "a text or a whole number for each class"),
        ({"refusal_answers": ["none"]}, "none: expected JSON, such as 'null'"),
        ({"refusal_status": [200]}, "from 400 to 499 but 429, or from 201 to 299"),
        ({"refusal_status": [429]}, "from 400 to 499 but 429, or from 201 to 299"),
    ],
)
def test_mistakes_are_one_line(http, words) -> None:
    with pytest.raises(ClaimError, match=words) as error:
        parse_claim({"mechanism": PLAIN, "http": http})
    assert "\n" not in str(error.value)


def test_numbers_have_no_names() -> None:
    with pytest.raises(ClaimError, match=r"http.labels: .*releases no labels"):
        parse_claim({"mechanism": histogram(), "http": {"labels": ["a"]}})


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("way", "gate", "verdict"),
    [
        ("409", COARSE | {"max_queries": 200}, Verdict.INCONCLUSIVE),
        pytest.param("204", COARSE, Verdict.PASS, marks=pytest.mark.slow("a pass over HTTP")),
    ],
)
def test_a_whole_run_of_a_service_that_refuses_in_its_own_way(way, gate, verdict, served) -> None:
    """One request for each label; other totals are refused as a wrong request."""
    http, status, body = REFUSING[way]
    rng = np.random.default_rng(5)

    def predict(handler: Any) -> None:
        votes = np.array(handler.content["votes"])
        if votes.sum() != SCREENED["teachers"]:
            replying({"detail": "40 votes, please"}, 400)(handler)
        elif votes.max() + rng.normal(0.0, 10.0) < SCREENED["threshold"]:
            replying(body, status)(handler)
        else:
            label = int((votes + rng.normal(0.0, 10.0, 3)).argmax())
            replying({"label": NAMES[label]})(handler)

    http = {**ALONE, **http, "path": "/v1", "labels": NAMES}
    http["refusal_status"] = [400, *http.get("refusal_status", [])]
    made = parse_claim({"mechanism": SCREENED, "gate": gate, "http": http})
    target = open_claimed(served(predict).url, made)
    assert verify(target, made, seed=0).verdict is verdict
    target.close()
