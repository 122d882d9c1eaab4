"""A call in a fork of this process, which begins with its state and leaves it as it is."""

import os
import pickle
import select
import signal
from collections.abc import Callable
from typing import Any


def in_fork(run: Callable[[], Any], ended: Callable[[str], Any], seconds: float | None) -> bytes:
    """What a call gives in a fork, pickled; or what `ended` makes of why there is nothing.

    seconds: without a word from the fork, after which it is killed; None: it is waited for.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "wb") as file:
            try:
                pickle.dump(run(), file)
            except BaseException as error:
                pickle.dump(ended(f"{type(error).__name__}: {error}"), file)
        os._exit(0)
    os.close(writer)
    found = b""
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        while True:
            ready, _, _ = select.select([pipe], [], [], seconds)
            if not ready:
                os.kill(child, signal.SIGKILL)
                found = pickle.dumps(ended(f"a call took more than {seconds or 0.0:g} s"))
                break
            chunk = pipe.read(1 << 20)
            if not chunk:
                break
            found += chunk
    _, status = os.waitpid(child, 0)
    return found or pickle.dumps(ended(f"its process ended with status {status}"))
