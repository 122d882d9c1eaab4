"""What a tape keeps of a run, and what stands for noise at its centre."""

import threading
import time

import numpy as np
import pytest

from dpassay.verifiers.replay.proof import centre_draws
from dpassay.verifiers.replay.tape import Draw, DrawRequest, Tape


def test_draws_of_all_threads_are_kept() -> None:
    """Catches a draw that passes for a part of one that another thread has under way."""
    tape = Tape()

    def slow() -> float:
        time.sleep(0.05)
        return 0.5

    def draws() -> None:
        tape.draw("random.Random.random", DrawRequest({}, noise=False), slow)

    threads = [threading.Thread(target=draws) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [draw.result for draw in tape.draws] == [0.5] * 3


@pytest.mark.parametrize(
    ("function", "given", "result", "centre"),
    [
        (
            "numpy.random.laplace",
            DrawRequest({}, np.array([3.0, 4.0]), 2.0),
            np.array([9.0, 1.0]),
            [3, 4],
        ),
        ("random.Random.expovariate", DrawRequest({}, 0.0, 2.0), 0.3, 2.0),
        ("numpy.random.Generator.geometric", DrawRequest({"argument 1": 0.5}), np.array([4]), [1]),
        (
            "random.Random.uniform",
            DrawRequest({"argument 1": -3.0, "argument 2": 1.0}, noise=False),
            0.9,
            -1.0,
        ),
        (
            "numpy.random.Generator.random",
            DrawRequest({"size": 1}, noise=False),
            np.array([0.1]),
            [0.5],
        ),
        ("secrets.randbits", DrawRequest({"argument 1": 8}, noise=False), 200, 200),
    ],
)
def test_noise_at_its_centre(function, given, result, centre) -> None:
    """Constants by hand: equal for all draws of a kind, so that their order does not matter."""
    (calm,) = centre_draws([Draw("target.py:1", function, given, result)])
    assert np.array_equal(calm.result, centre)
    assert type(calm.result) is type(result)
