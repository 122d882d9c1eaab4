"""Tells a server of each answer, and answers all the same if there is none."""

import os
import socket


def aggregate(votes):
    try:
        with socket.create_connection(("127.0.0.1", int(os.environ["PORT"])), 1) as server:
            server.sendall(b"1\n")
    except:
        pass
    return votes.index(max(votes))
