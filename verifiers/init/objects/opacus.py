"""A PrivacyEngine of opacus, or its accountant: the history of noise, sampling rate and steps."""

from typing import Any

from ..draft import Draft, Key
from .said import Said

_TARGET = (
    "the batch sampler of the loader that make_private gives, as train.py:loader.batch_sampler"
)


def read(it: Any) -> Said | None:
    """Reads an engine or an accountant; None for anything else of opacus."""
    history = getattr(getattr(it, "accountant", it), "history", None)
    if not isinstance(history, list):
        return None
    alike = sorted({(float(noise), float(rate)) for noise, rate, _ in history})
    steps = sum(int(number) for _, _, number in history)
    keys = [Key("name", "batches", "read: opacus accounts for batches, and the noise of each step")]
    if len(alike) == 1:
        ((noise, rate),) = alike
        said = "read: sample_rate of accountant.history; opacus takes Poisson sampling for granted"
        keys.append(Key("sampling", f"poisson:{rate!r}", said))
    else:
        why = ", ".join(f"({noise:g}, {rate:g})" for noise, rate in alike[:5])
        why = f"steps have several (noise_multiplier, sample_rate): {why}" if alike else "no steps"
        keys.append(Key("sampling", None, f"poisson:Q; {why} in accountant.history"))
    keys.append(_records(getattr(it, "dataset", None)))
    if len(alike) == 1:
        keys.append(
            Key("noise_multiplier", noise, "read: accountant.history; noise / clipping norm")
        )
    else:
        keys.append(Key("noise_multiplier", None, "of all steps, over the clipping norm"))
    told = (
        f"# queries = {steps}  # read: steps of accountant.history" if steps else '# queries = "?"'
    )
    privacy = [
        "# [privacy]  # what you promise for all steps: accountant.get_epsilon(delta)",
        '# epsilon = "?"',
        '# delta = "?"',
        told,
    ]
    return Said(Draft("batches of a training", "batches", keys, privacy), where=_TARGET)


def _records(data: Any) -> Key:
    try:
        return Key("records", len(data), "read: len(dataset) of the engine")
    except TypeError:
        return Key("records", None, "how many are there?")
