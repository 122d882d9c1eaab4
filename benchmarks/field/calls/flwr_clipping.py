"""flwr: server-side fixed clipping around FedAvg, of clients' updates of two tensors.

The aggregate is a mean over clients; it is multiplied by their number, so that the sum is judged.
The first word on the command line says how many examples clients have: `equal`, or `unequal`, 97
for the first of them and 1 for each other one. With the word `finite`, updates that are not finite
are refused beforehand. An update of zeros makes this version divide by zero: it is given as 1e-100.
"""

import logging
import sys

import numpy as np
from flwr.common import Code, FitRes, Status, ndarrays_to_parameters, parameters_to_ndarrays
from flwr.server.strategy import DifferentialPrivacyServerSideFixedClipping, FedAvg
from served import serve

logging.disable(logging.CRITICAL)
OK = Status(Code.OK, "")


def answers(values):
    """What clients answer, as flwr takes it: made anew for each release, since it is changed."""
    tensors = [np.array(tensor, dtype=float) for tensor in values]
    for client in range(len(tensors[0])):
        update = [tensor[client] for tensor in tensors]
        if "finite" in sys.argv and not all(np.isfinite(part).all() for part in update):
            raise ValueError("an update is not finite")
        if not any(part.any() for part in update):
            update[0].flat[0] = 1e-100  # flwr divides by the norm, whose square must not vanish
        examples = 97 if "unequal" in sys.argv and client == 0 else 1
        yield None, FitRes(OK, ndarrays_to_parameters(update), examples, {})


def release_once(values):
    """A noisy sum of clipped updates."""
    results = list(answers(values))
    strategy = DifferentialPrivacyServerSideFixedClipping(
        FedAvg(), noise_multiplier=1.1, clipping_norm=1.0, num_sampled_clients=len(results)
    )
    zero = [np.zeros(np.shape(tensor)[1:]) for tensor in values]
    strategy.current_round_params = zero
    aggregated, _ = strategy.aggregate_fit(1, results, [])
    found = parameters_to_ndarrays(aggregated)
    return (len(results) * np.concatenate([part.ravel() for part in found])).tolist()


serve(lambda values, size: [release_once(values) for _ in range(size)])
