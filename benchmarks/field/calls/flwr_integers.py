"""flwr: the noise of server-side fixed clipping on an aggregate that is whole numbers.

`add_gaussian_noise_to_params` is what the strategy ends with; the tensor is of 64-bit integers, as
counters of a model are.
"""

import numpy as np
from flwr.common import ndarrays_to_parameters, parameters_to_ndarrays
from flwr.supercore.differential_privacy import add_gaussian_noise_to_params
from served import one_by_one, serve


def release_once(counts):
    """Counts with noise of 2 times 1 over 1 client."""
    given = ndarrays_to_parameters([np.array(counts, dtype=np.int64)])
    return parameters_to_ndarrays(add_gaussian_noise_to_params(given, 2.0, 1.0, 1))[0].tolist()


serve(one_by_one(release_once))
