"""`[http]` with `path`, `body` and `answer`: a service is asked by the route that it has."""

from typing import Any

import numpy as np
import pytest
from claims import COARSE, SMALL, histogram
from http_server import replying
from one_call import ask

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.findings.verdict import Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import HttpOptions, TargetError, open_target
from dpassay.verifiers.targets.http_route import HttpRoute
from dpassay.verifiers.targets.numbers import NumberRelease

ALONE = '{"counts": {{histogram}}, "mode": "dp"}'
TOGETHER = '{"rows": [{{histogram}}], "n": {{ size }}}'


def asked(server: Any, size: int = 5, **route: Any) -> Any:
    """Labels of a server by such a route."""
    target = open_target(server.url, 5.0, http=HttpOptions(route=HttpRoute(**route)))
    try:
        return ask(target, size).tolist()
    finally:
        target.close()


def test_a_body_without_a_size_is_sent_once_per_label(served) -> None:
    server = served(replying({"result": {"labels": [2]}}))
    found = asked(server, path="/v1/predict", body=ALONE, answer="/result/labels/0")
    assert found == [2] * 5
    assert [(path, body) for _, path, body, _ in server.asked] == [
        ("/v1/predict", {"counts": [30, 15, 5], "mode": "dp"})
    ] * 5


def test_a_body_with_a_size_is_sent_once(served) -> None:
    """A key of the pointer may hold a slash or a tilde, escaped as RFC 6901 says."""
    server = served(replying({"a/b~": [0, 1, 2, 1, 0]}))
    assert asked(server, path="/all", body=TOGETHER, answer="/a~1b~0") == [0, 1, 2, 1, 0]
    ((_, path, body, _),) = server.asked
    assert (path, body) == ("/all", {"rows": [[30, 15, 5]], "n": 5})


@pytest.mark.parametrize("reply", [1, [1]])
def test_one_answer_stands_by_itself_or_in_a_list(served, reply) -> None:
    assert asked(served(replying(reply)), 1, body=TOGETHER, answer="") == [1]


@pytest.mark.parametrize("reply", [[0.5, 1.5], [[0.5, 1.5]]])
def test_numbers_too(served, reply) -> None:
    """One release of two numbers is a list itself."""
    release = NumberRelease("counts", 2)
    options = HttpOptions(route=HttpRoute("/sum", '{"v": {{values}}}', "/found"))
    server = served(replying({"found": reply}))
    target = open_target(server.url, 5.0, release=release, http=options)
    found = release.shaped(target.ask(np.array([3, 4]), 3), None, 3)
    target.close()
    assert found.tolist() == [[0.5, 1.5]] * 3


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ({"result": {}}, "nothing stands at /result/label"),
        ({"result": [1]}, "nothing stands at /result/label"),
        (b"<html>", "expected JSON"),
        ({"result": {"label": "cat"}}, "labels of type text"),
    ],
)
def test_what_is_no_answer_is_one_line(served, reply, words) -> None:
    with pytest.raises(TargetError, match=words):
        asked(served(replying(reply)), 1, body=ALONE, answer="/result/label")


def test_a_path_alone_keeps_the_protocol(served) -> None:
    server = served(replying({"labels": [0] * 5}))
    assert asked(server, path="/own") == [0] * 5
    assert server.asked[0][1:3] == ("/own", {"histogram": [30, 15, 5], "size": 5})


@pytest.mark.parametrize(
    ("http", "words"),
    [
        ({"body": '{"n": {{size}}}'}, "http.body = .*: expected the input in it, {{histogram}}"),
        ({"body": '{"n": {{query}}}'}, "http.body: {{query}}: expected {{histogram}} or {{size}}"),
        ({"body": '{"n": "{{histogram}}"'}, "http.body: with values in its places it is not JSON"),
        ({"answer": "label"}, "http.answer.*expected a JSON Pointer such as /result/label"),
        ({"path": "predict"}, "http.path"),
        ({"path": "/predict?n=1"}, "http.path"),
    ],
)
def test_mistakes_are_one_line(http, words) -> None:
    with pytest.raises(ClaimError, match=words) as error:
        parse_claim({"mechanism": SMALL, "http": http})
    assert "\n" not in str(error.value)


def test_the_body_names_what_the_kind_takes() -> None:
    """Catches a template that is held to histograms whatever is released."""
    for mechanism, key in ((SMALL, "histogram"), (histogram(), "values")):
        made = parse_claim({"mechanism": mechanism, "http": {"body": f"[{{{{{key}}}}}]"}})
        assert made.http_options.route.body == f"[{{{{{key}}}}}]"


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("scale", "verdict"),
    [
        pytest.param(10.0, Verdict.PASS, marks=pytest.mark.slow("a whole pass over HTTP")),
        (5.0, Verdict.FAIL),
    ],
)
def test_a_whole_run_by_a_route_of_its_own(served, scale, verdict) -> None:
    """Catches labels that lose their order, or that stand with another input."""
    rng = np.random.default_rng(3)

    def predict(handler: Any) -> None:
        if handler.path != "/predict":
            replying({"detail": "Not Found"}, 404)(handler)
            return
        votes = np.array(handler.content["features"])
        noisy = votes + rng.normal(0.0, scale, (handler.content["n"], votes.size))
        replying({"result": {"labels": noisy.argmax(1).tolist()}})(handler)

    http = {"path": "/predict", "body": '{"features": {{histogram}}, "n": {{size}}}'}
    http |= {"answer": "/result/labels"}
    made = parse_claim({"mechanism": SMALL, "gate": COARSE, "http": http})
    target = open_target(served(predict).url, 20.0, http=made.http_options)
    assert verify(target, made, seed=0).verdict is verdict
    target.close()
