"""Orders at which an accountant serves no charge: left out and named, on every transport."""

import numpy as np
import pytest
from http_server import replying
from one_call import HISTOGRAM
from small import small_claim

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.run.charged_orders import CHARGED_ORDERS, ChargedOrders
from dpassay.verifiers.targets import InProcessTarget, NotOffered, Refused, TargetError
from dpassay.verifiers.targets.replies import NoReplyError

AT_MOST_64 = [order for order in CHARGED_ORDERS if order <= 64]


class Accountant:
    """A target whose `charge(orders)` is its accountant; asked: the orders of each call."""

    def __init__(self, charge):
        self.charge, self.asked = charge, []

    def sample(self, histogram, size):
        return np.zeros(size, dtype=np.int64)

    def rdp(self, histogram, orders):
        self.asked.append(orders.tolist())
        return self.charge(orders)


def up_to_64(error):
    def charge(orders):
        if max(orders) > 64:
            raise error
        return orders / 100

    return charge


def asked(charge, orders=None):
    """The charges for one histogram, the object that asked for them, and the calls it took."""
    tables = {} if orders is None else {"accountant": {"orders": orders}}
    of, accountant = ChargedOrders(small_claim(**tables)), Accountant(charge)
    return of.charge(InProcessTarget(accountant), HISTOGRAM), of, accountant


def left_out(of: ChargedOrders, orders: int) -> str:
    """The message on so many orders that were left out."""
    (told,) = of.warnings
    assert told.code == "orders-not-charged"
    assert told.fields["orders"] == orders
    return told.message


def test_all_orders_are_asked_in_one_call_where_it_is_answered() -> None:
    found, of, accountant = asked(lambda orders: orders / 100)
    assert accountant.asked == [list(CHARGED_ORDERS)]
    assert found.pairs == [(order, order / 100) for order in CHARGED_ORDERS]
    assert of.warnings == ()


@pytest.mark.parametrize("error", [OverflowError("math range error"), ValueError("order too high")])
def test_orders_at_which_it_raises_are_left_out_and_named(error) -> None:
    """Once found, the orders that are left are asked together again."""
    found, of, accountant = asked(up_to_64(error))
    assert found.orders.tolist() == AT_MOST_64
    assert "orders 100, 128, 512, 4096" in left_out(of, 4)
    assert str(error) in left_out(of, 4)
    assert of.words == "12 orders between 1.5 and 64"
    of.charge(InProcessTarget(accountant), HISTOGRAM)
    assert accountant.asked[-1] == AT_MOST_64


@pytest.mark.parametrize("nothing", [np.nan, np.inf, None])
def test_orders_without_a_finite_number_are_left_out(nothing) -> None:
    def charge(orders):
        return [order / 100 if order < 512 else nothing for order in orders.tolist()]

    found, of, accountant = asked(charge)
    assert found.orders.tolist() == [order for order in CHARGED_ORDERS if order < 512]
    assert "orders 512, 4096: " in left_out(of, 2)
    assert "no finite" in left_out(of, 2)
    assert len(accountant.asked) == 1


def test_the_claim_says_which_orders_are_served() -> None:
    """Its lowest and highest are asked themselves, though no others are near them."""
    _, of, accountant = asked(up_to_64(OverflowError()), [2, 64])
    assert accountant.asked == [[order for order in AT_MOST_64 if order >= 2]]
    assert of.warnings == ()
    assert asked(lambda orders: orders / 100, [33, 40])[0].orders.tolist() == [33, 40]


def test_a_reply_may_name_its_own_orders() -> None:
    def charge(orders):
        return {"orders": [2, 5, 80], "rdp": [0.1, 0.2, 3.0]}

    assert asked(charge)[0].pairs == [(2, 0.1), (5, 0.2), (80, 3.0)]
    assert asked(charge, [2, 64])[0].pairs == [(2, 0.1), (5, 0.2)]


@pytest.mark.parametrize("orders", [[1, 2], [], "2", [2, np.inf], [[2]]])
def test_orders_that_a_reply_names_are_checked(orders) -> None:
    with pytest.raises(TargetError, match="numbers above 1"):
        asked(lambda _: {"orders": orders, "rdp": [0.1, 0.2]})


@pytest.mark.parametrize("error", [OverflowError("never"), ValueError("never")])
def test_where_no_order_is_left_the_first_failure_stands(error) -> None:
    """An error of a call stays one, and a refusal of the histogram is no error."""

    def charge(orders):
        raise error

    with pytest.raises(Refused if isinstance(error, ValueError) else TargetError, match="never"):
        asked(charge)
    with pytest.raises(TargetError, match="no finite cost"):
        asked(lambda orders: np.full(orders.size, np.nan))


def test_a_reply_of_another_shape_is_an_error_at_once() -> None:
    """One number for all orders is no charge of the first of them."""
    with pytest.raises(TargetError, match="expected 16 costs"):
        asked(lambda orders: [1.0])


def test_a_call_without_an_answer_is_not_repeated_order_by_order() -> None:
    calls = []

    class Silent(InProcessTarget):
        def rdp(self, histogram, orders, answered=None):
            calls.append(orders)
            raise NoReplyError("no answer within 30 s")

    with pytest.raises(NoReplyError):
        ChargedOrders(small_claim()).charge(Silent(Accountant(None)), HISTOGRAM)
    assert len(calls) == 1


CHILD = """
    if max(request["orders"]) > 64:
        print(json.dumps({"error": "order too high"}))
    else:
        print(json.dumps({"rdp": [order / 100 for order in request["orders"]]}))
"""
NO_NUMBERS = """
    costs = [order / 100 if order < 100 else REPLY for order in request["orders"]]
    print(json.dumps({"rdp": costs}))
"""


@pytest.mark.parametrize(
    "body", [CHILD, *(NO_NUMBERS.replace("REPLY", it) for it in ("None", "1e999", "float('nan')"))]
)
def test_a_child_leaves_orders_out(body, script, opened) -> None:
    """Also one whose first answer is an error, as to a call that it does not know."""
    of = ChargedOrders(small_claim())
    found = of.charge(opened(script(body)), HISTOGRAM)
    assert found.orders.tolist() == AT_MOST_64
    assert "100, 128, 512, 4096" in left_out(of, 4)


def test_a_child_that_knows_no_charges_is_asked_no_more(script, opened) -> None:
    with pytest.raises(NotOffered):
        ChargedOrders(small_claim()).charge(
            opened(script("print(json.dumps({'error': 'unknown call'}))")), HISTOGRAM
        )


@pytest.mark.parametrize("status", [422, 500])
def test_a_server_leaves_orders_out(status, served, opened) -> None:
    def handle(handler):
        orders = handler.content["orders"]
        too_high = replying({"error": "order too high"}, status)
        charged = replying({"rdp": [order / 100 for order in orders]})
        (too_high if max(orders) > 64 else charged)(handler)

    of = ChargedOrders(small_claim())
    found = of.charge(opened(served(handle).url), HISTOGRAM)
    assert found.orders.tolist() == AT_MOST_64
    assert "too high" in left_out(of, 4)


def test_a_server_may_name_its_orders(served, opened) -> None:
    server = served(replying({"rdp": [0.5, None], "orders": [3, 7]}))
    of = ChargedOrders(small_claim())
    found = of.charge(opened(server.url), HISTOGRAM)
    assert found.pairs == [(3, 0.5)]
    assert "order 7:" in left_out(of, 1)


@pytest.mark.slow("over half a second")
def test_a_python_target_names_orders_from_its_own_process(tmp_path, opened) -> None:
    path = tmp_path / "named.py"
    path.write_text(
        "class Named:\n"
        "    def sample(self, histogram, size): return [0] * size\n"
        "    def rdp(self, histogram, orders): return {'orders': [3, 7], 'rdp': [0.5, None]}\n"
        "named = Named()\n"
    )
    found = ChargedOrders(small_claim()).charge(opened(f"{path}:named"), HISTOGRAM)
    assert found.pairs == [(3, 0.5)]


@pytest.mark.parametrize("orders", [[64, 2], [2], [1, 64], [2, "64"], [2, 1e7], 2, [True, 64]])
def test_orders_of_a_claim_are_its_lowest_and_highest(orders) -> None:
    with pytest.raises(ClaimError, match=r"accountant\.orders = .*lowest.*highest"):
        small_claim(accountant={"orders": orders})


def test_a_key_of_another_table_is_told_where_it_belongs() -> None:
    privacy = {"epsilon": 1.0, "delta": 1e-5, "queries": 9, "orders": [2, 64]}
    with pytest.raises(ClaimError, match=r"privacy\.orders .*\[accountant\]"):
        small_claim(privacy=privacy)


SPOKEN = """
    costs = {False: 0.1, True: 0.3}
    print(json.dumps({"rdp": [costs[request["answered"]] * order for order in request["orders"]]}))
"""
OF_PYTHON = """
class Deployment:
    def sample(self, histogram, size): return [0] * size
    def rdp(self, histogram, orders, answered): return (0.3 if answered else 0.1) * orders
deployment = Deployment()
"""


@pytest.fixture(params=["python", "exec", "http"])
def by_outcome(request, tmp_path, script, served):
    """The spec of an accountant that charges a refusal a third of what it charges an answer."""
    if request.param == "exec":
        return script(SPOKEN)
    if request.param == "python":
        (tmp_path / "charging.py").write_text(OF_PYTHON)
        return f"{tmp_path / 'charging.py'}:deployment"

    def handle(handler):
        share = 0.3 if handler.content["answered"] else 0.1
        replying({"rdp": [share * order for order in handler.content["orders"]]})(handler)

    return served(handle).url


@pytest.mark.slow("over half a second")
def test_an_account_by_outcome_is_asked_for_each(by_outcome, opened) -> None:
    target, of = opened(by_outcome), ChargedOrders(small_claim(accountant={"orders": [2, 2]}))
    for answered, cost in ((False, 0.2), (True, 0.6)):
        assert of.charge(target, HISTOGRAM, answered).costs.tolist() == pytest.approx([cost])
