"""Right in one life, and not over a restart: each deployment runs in a process of its own."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.request import urlopen

from .claims import CACHING, EMPTIED, GNMAX, LIVES
from .entry import FRESH, Deployed, Make, Shelf
from .lives import store_of

shelf = Shelf("restarts", FRESH, GNMAX)
correct = Shelf("none", (), GNMAX)


def command(*words: str) -> str:
    return shlex.join([sys.executable, str(LIVES), *words])


def python(name: str) -> Make:
    """A Python target, whose worker keeps its process id when it is restarted."""
    return lambda seed: Deployed(f"{LIVES}:{name}")


def speaking(name: str) -> Make:
    return lambda seed: Deployed(f"exec:{command(name)}")


def speaking_from_a_folder(name: str) -> Make:
    def make(seed: int) -> Deployed:
        folder = tempfile.TemporaryDirectory()
        return Deployed(f"exec:{command(name, folder.name)}", end=folder.cleanup)

    return make


def speaking_from_a_store(name: str) -> Make:
    """With a folder that the claim's command empties."""

    def make(seed: int) -> Deployed:
        store = store_of(os.getpid())
        shutil.rmtree(store, ignore_errors=True)
        store.mkdir()
        return Deployed(f"exec:{command(name, str(store))}", end=lambda: shutil.rmtree(store))

    return make


def served(seeded: bool) -> Make:
    """A server in the background, and the command that restarts it."""

    def make(seed: int) -> Deployed:
        folder = tempfile.TemporaryDirectory()
        begun = ("start", folder.name, str(seed) if seeded else "none")
        subprocess.run([sys.executable, LIVES, *begun], check=True)
        port = json.loads((Path(folder.name) / "server.json").read_text())[2]
        asked = json.dumps({"histogram": [150, 100], "size": 100}).encode()
        with urlopen(f"http://127.0.0.1:{port}/aggregate", asked, 30):  # by somebody else
            pass

        def end() -> None:
            subprocess.run([sys.executable, LIVES, "stop", folder.name], check=True)
            folder.cleanup()

        return Deployed(f"http://127.0.0.1:{port}", command("restart", folder.name), end)

    return make


shelf.makes("seed-behind-a-server", "A server in use, whose seed is fixed and set at its start.")(
    served(seeded=True)
)
shelf.makes(
    "seed-of-the-process-id",
    "The generator's seed is the process id, which is the same at every start in a container.",
)(python("of_the_process_id"))
shelf.makes("seed-of-the-process-id-by-command", "The same in a command of any language.")(
    speaking("of-the-process-id")
)
shelf.makes(
    "state-saved-every-50-calls",
    "The generator is saved after every 50 calls; a restart replays those since.",
)(speaking_from_a_folder("saved-every-50"))
shelf.makes(
    "eight-seeds-in-turn", "Every start takes the next of eight seeds, by a counter on disk."
)(speaking_from_a_folder("eight-in-turn"))
shelf.makes("four-seeds-in-turn", "The same with four seeds.")(
    speaking_from_a_folder("four-in-turn")
)
shelf.makes(
    "cache-in-memory",
    "Answers are kept as claimed, but in memory: every restart draws each of them anew.",
    claim=CACHING,
)(speaking("cached-in-memory"))
shelf.makes(
    "seed-behind-kept-answers",
    "Answers are kept as claimed, and drawn from a seed that is fixed and set at every start.",
    claim=CACHING,
)(speaking_from_a_folder("cached-and-seeded"))
shelf.makes(
    "seed-behind-a-store",
    "The same of a store that a command empties.",
    claim=EMPTIED,
)(speaking_from_a_store("cached-and-seeded"))
shelf.makes(
    "noise-of-a-hash",
    "The noise is seeded by a hash of the votes: answers repeat, and anybody can compute them.",
    claim=EMPTIED,
)(speaking_from_a_store("hashed"))
shelf.makes(
    "noise-of-a-hash-kept",
    "The same behind a store of answers, where each of them is drawn once.",
    claim=EMPTIED,
)(speaking_from_a_store("hashed-and-cached"))

correct.makes("served-and-restarted", "A server seeded by the system, restarted by a command.")(
    served(seeded=False)
)
correct.makes("seeded-by-the-system", "A generator seeded by the system at every start.")(
    python("of_the_system")
)
correct.makes("seeded-by-the-system-by-command", "The same in a command of any language.")(
    speaking("of-the-system")
)
correct.makes(
    "state-saved-every-call", "One stream over all restarts: saved before an answer goes out."
)(speaking_from_a_folder("saved-every-call"))
correct.makes(
    "counter-with-entropy", "Seeded by a counter of starts that goes round, and by the system."
)(speaking_from_a_folder("counted-with-entropy"))
correct.makes("cache-on-disk", "Answers are kept over restarts, as claimed.", claim=CACHING)(
    speaking_from_a_folder("cached-on-disk")
)
correct.makes(
    "cache-emptied", "Answers are kept on disk, and drawn anew once they are gone.", claim=EMPTIED
)(speaking_from_a_store("cached-on-disk"))
correct.makes(
    "noise-of-a-keyed-hash",
    "The noise is seeded by a hash of the votes and a secret key, kept where answers would be.",
    claim=EMPTIED,
)(speaking_from_a_store("keyed"))
