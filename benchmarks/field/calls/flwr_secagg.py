"""flwr: its SecAgg+ workflow and client mod, all in one process, of values with shares of noise.

The server's stages and each client's are flwr's own; what carries their messages is a list. A
quantisation step is 1, so that whole numbers stay whole, and all clients have equal weights. The
mean that flwr gives is multiplied by the number of clients. A client that leaves does not answer
from that stage on; with the word `stay`, clients that are to leave before keys leave before they
send their values. With the word `narrow`, clipping_range is 8, its default.
"""

import copy
import logging
import sys

import numpy as np
from flwr.app import Context, Error, Message, RecordDict
from flwr.client.mod import secaggplus_mod
from flwr.common import (
    Code,
    ConfigRecord,
    FitIns,
    FitRes,
    Status,
    bytes_to_ndarray,
    ndarrays_to_parameters,
    parameters_to_ndarrays,
)
from flwr.common.constant import ErrorCode
from flwr.common.secure_aggregation.secaggplus_constants import RECORD_KEY_CONFIGS, Key, Stage
from flwr.compat.common import recorddict_compat as compat
from flwr.server.compat.legacy_context import LegacyContext
from flwr.server.strategy import FedAvg
from flwr.server.workflow import SecAggPlusWorkflow
from flwr.supercore.task_identity import TaskIdentity
from served import serve
from shares import polya_share

logging.disable(logging.CRITICAL)
TaskIdentity.run_id = TaskIdentity.node_id = TaskIdentity.task_id = 0
CLIP = 8.0 if "narrow" in sys.argv else 2.0**15
STAGES = (Stage.SETUP, Stage.SHARE_KEYS, Stage.COLLECT_MASKED_VECTORS, Stage.UNMASK)
LAST = {
    0: 4,
    1: 2 if "stay" in sys.argv else 0,
    2: 2,
    3: 3,
}  # stages that a client answers, by when it leaves
WEIGHT = 1.0


class Client:
    """A client: its values, and flwr's mod around its training."""

    def __init__(self, number, values, leaves):
        self.node_id, self.values, self.last = number, values, LAST[leaves]
        self.context = Context(0, number, {}, RecordDict(), {})
        self.sent = None

    def answer(self, message):
        """Its reply to a stage, none once it has left."""
        stage = STAGES.index(message.content.config_records[RECORD_KEY_CONFIGS][Key.STAGE])
        if stage >= self.last:
            return None
        reply = secaggplus_mod(message, self.context, self.train)
        if STAGES[stage] == Stage.COLLECT_MASKED_VECTORS:
            parts = reply.content.config_records[RECORD_KEY_CONFIGS][Key.MASKED_PARAMETERS]
            self.sent = bytes_to_ndarray(parts[1]).tolist()
        return reply

    def train(self, message, context):
        """Its values with its share of the noise, as what training gives."""
        noisy = np.array(self.values, dtype=float) + polya_share(4, 2.0, len(self.values))
        result = FitRes(Status(Code.OK, ""), ndarrays_to_parameters([noisy]), int(WEIGHT), {})
        return Message(compat.fitres_to_recorddict(result, False), reply_to=message)


class Grid:
    """Carries messages to clients in this process."""

    def __init__(self, clients):
        self.clients = {client.node_id: client for client in clients}

    def send_and_receive(self, messages, *, timeout=None):
        """The replies of those who are there."""
        replies = []
        for message in messages:
            own = copy.deepcopy(message)  # as if it had travelled: a client changes what it reads
            try:
                reply = self.clients[message.metadata.dst_node_id].answer(own)
            except Exception as fault:  # flwr answers for a client whose code raises
                reply = Message(
                    Error(ErrorCode.CLIENT_APP_RAISED_EXCEPTION, repr(fault)), reply_to=own
                )
            if reply is not None:
                replies.append(reply)
        return replies


class Strategy(FedAvg):
    """Chooses all clients, and keeps the mean."""

    def __init__(self, clients):
        super().__init__()
        self.clients, self.mean = clients, None

    def configure_fit(self, server_round, parameters, client_manager):
        """See FedAvg."""
        return [(client, FitIns(parameters, {})) for client in self.clients]

    def aggregate_fit(self, server_round, results, failures):
        """See FedAvg; the parameters of each result are the mean already."""
        self.mean = parameters_to_ndarrays(results[0][1].parameters)[0]
        self.present = len(results)
        return None, {}


def one(held, leaves):
    """A round."""
    clients = [Client(k + 1, v, when) for k, (v, when) in enumerate(zip(held, leaves, strict=True))]
    strategy = Strategy(clients)
    context = LegacyContext(Context(0, 0, {}, RecordDict(), {}), strategy=strategy)
    context.state.config_records["config"] = ConfigRecord({"current_round": 1})
    zero = ndarrays_to_parameters([np.zeros(len(held[0]))])
    context.state.array_records["parameters"] = compat.parameters_to_arrayrecord(zero, False)
    workflow = SecAggPlusWorkflow(
        1.0, 4, max_weight=WEIGHT, clipping_range=CLIP, quantization_range=int(2 * CLIP)
    )
    workflow(Grid(clients), context)
    if strategy.mean is None:
        raise ValueError("the workflow halted")
    tally = [round(x) for x in (strategy.mean * strategy.present).tolist()]
    return {"tally": tally, "sent": [client.sent for client in clients]}


serve(lambda given, size: [one(*given) for _ in range(size)])
