"""A measurement of OpenDP: how it was made, as `__opendp_dict__` says, and its privacy map."""

from collections.abc import Iterator, Sequence
from typing import Any

from ..draft import Draft, Key
from ..numbers import ADJACENCY
from .said import Said, draft_any, noise_text, one_release

_WRAPS = ("make_zCDP_to_approxDP", "make_fix_delta", "make_approximate", "make_pureDP_to_zCDP")
_NOISE = {"make_laplace": "laplace", "make_gaussian": "gaussian"}
_ARRAYS = {"f64": "float64", "i32": "int32", "i64": "int64"}  # lists of millions take too long
_FINE = 2.0**-10  # scales of noise: on a coarser grid, rounding before and after noise differ
_BY_RECORDS = ("SymmetricDistance()", "InsertDeleteDistance()")


def read(it: Any) -> Said | None:
    """Reads a measurement; None for anything else of OpenDP."""
    if type(it).__name__ != "Measurement":
        return None
    inner, steps = _parts(it)
    how, given = _made(inner)
    if how in _NOISE:
        noise = _noise(inner, how, given)
        if not steps:
            return _of_numbers(it, noise) or _of_epsilon(it)
        return _of_records(it, noise, steps) or _of_epsilon(it)
    return _of_epsilon(it)


def _made(it: Any) -> tuple[str, dict[str, Any]]:
    """The constructor of an object, and what it was given; nothing where OpenDP does not say."""
    found = getattr(it, "__opendp_dict__", None) or {}
    return found.get("__function__", ""), found.get("__kwargs__", {})


def _parts(it: Any) -> tuple[Any, list[Any]]:
    """The measurement that adds noise, and the transformations before it, the last one first."""
    how, given = _made(it)
    while how in _WRAPS:
        it = given["measurement"]
        how, given = _made(it)
    if how != "make_chain_mt":
        return it, []

    def steps(one: Any) -> Iterator[Any]:
        how, given = _made(one)
        if how == "make_chain_tt":
            yield from steps(given["transformation1"])
            yield from steps(given["transformation0"])
        else:
            yield one

    return given["measurement1"], list(steps(given["transformation0"]))


def _noise(it: Any, how: str, given: dict[str, Any]) -> Key:
    """The noise: whole on whole numbers, of f64 as fine as floats or on a grid of 2^k."""
    family, scale, k = _NOISE[how], float(given["scale"]), given.get("k")
    what = "a standard deviation" if family == "gaussian" else "that of Laplace noise"
    note = f"read: {how}(scale={scale:g}), {what}"
    carried = str(it.input_carrier_type)
    if "f32" in carried:
        return Key("noise", None, f"{family} of scale {scale:g} in floats of 32 bits: its grid?")
    if "f64" not in carried:
        return Key("noise", noise_text(f"discrete-{family}", scale), note)
    if k is None:
        return Key("noise", noise_text(family, scale), note)
    if 2.0**k > _FINE * scale:
        question = f"{family} of scale {scale:g} on a grid of 2^{k}, to which inputs are rounded "
        return Key("noise", None, question + "before it is added: no claim says so")
    return Key("noise", noise_text(family, scale, f";grid=2^{k}"), f"{note}, k={k}")


def _map(it: Any, distance: int) -> Any:
    """The privacy map at a distance; None where it says nothing there."""
    for one in (distance, float(distance)):
        try:
            return it.map(one)
        except Exception:  # of another type of distance; OpenDP has its own errors
            continue
    return None


def _privacy(it: Any, distance: int, far: str) -> list[str]:
    """`[privacy]` as the privacy map says it; far: what so large a distance is, in words."""
    measure, cost = str(it.output_measure), _map(it, distance)
    source = f"m.map({distance}) in {measure}, {far}"
    if measure == "MaxDivergence":
        return one_release(cost, 0.0, source)
    if isinstance(cost, tuple) and "MaxDivergence" in measure:
        epsilon, delta = cost
        return one_release(epsilon, delta, source)
    first, *rest = one_release(None, None, "")
    told = f" is {cost!r}" if isinstance(cost, int | float) else ""
    return [f"{first}: which epsilon at which delta? {source}{told}", *rest]


def _of_numbers(it: Any, noise: Key) -> Said | None:
    """Noise on a number or a vector, without any transformation of records."""
    metric, cast = str(it.input_metric).partition("(")[0], _cast(it)
    if cast is None:
        return None
    if metric == "AbsoluteDistance":
        name = Key("name", "noisy-count", "read: of one number")
        privacy = _privacy(it, 1, "of a count, which a record moves by 1")
        draft = Draft("one number with noise", "numbers", [name, noise, ADJACENCY], privacy)
        return _asked(draft, f"[it({cast}(values[0]))]")
    if metric not in ("L1Distance", "L2Distance"):
        return None
    size = it.input_domain.size
    cells = Key("cells", size, "read: the size of input_domain")
    if size is None:
        cells = Key("cells", None, "how many? input_domain names no size")
    ends = f"m.map(1) is {_map(it, 1)!r} in {it.output_measure} under add-remove, and replace-one "
    ends += "is 2" if metric == "L1Distance" else "is the square root of 2"
    first, *rest = one_release(None, None, "")
    name = Key("name", "noisy-histogram", f"read: of a vector, by {metric}")
    draft = Draft(
        "numbers, a count each with noise",
        "numbers",
        [name, noise, ADJACENCY, cells],
        [f"{first}: {ends} by {metric}", *rest],
    )
    return _asked(draft, f"it([{cast}(one) for one in values])")


def _of_records(it: Any, noise: Key, steps: list[Any]) -> Said | None:
    """A count, a sum or a histogram of records, of which there may be any number."""
    last, first = steps[0], steps[-1]
    how, given = _made(last)
    domain, metric = it.input_domain, str(it.input_metric)
    element = getattr(domain, "element_domain", None)
    if element is None or domain.size is not None or metric not in _BY_RECORDS:
        return None
    kind = _ARRAYS.get(str(element.carrier_type))
    if kind is None:
        return None
    adjacency = Key("adjacency", "add-remove", f"read: at distance 1 by {metric}")
    privacy = _privacy(it, 1, "of a record more or less")
    if how == "make_count" and len(steps) == 1:
        name = Key("name", "noisy-count", "read: make_count")
        draft = Draft("a noisy count of records", "numbers", [name, noise, adjacency], privacy)
        return _asked(draft, f"[it(np.zeros(int(values[0]), '{kind}'))]", "import numpy as np")
    clamped = len(steps) == 2 and _made(first)[0] == "make_clamp"
    if how == "make_sum" and (clamped or len(steps) == 1):
        keys = [Key("name", "noisy-sum", "read: make_sum"), noise, adjacency]
        keys.append(Key("dimensions", 1, "read: make_sum"))
        if clamped:
            ends = _made(first)[1]["bounds"]
            said = "read: make_clamp"
            keys += [Key(key, x, said) for key, x in zip(("lower", "upper"), ends, strict=True)]
        else:
            said = f"input_domain has bounds {element.bounds}, which OpenDP does not enforce: clamp"
            keys += [Key(key, None, f"{said}, or does your code?") for key in ("lower", "upper")]
        draft = Draft("a noisy sum of records", "numbers", keys, privacy)
        refuse = [
            "    if not np.isfinite(values).all():",
            '        raise ValueError("records are finite numbers")',
        ]
        data = f"values[:, 0].astype('{kind}')"
        return _asked(draft, f"[it({data})]", "import numpy as np", refuse)
    if how == "make_count_by_categories" and len(steps) == 1 and not given.get("null_category"):
        names = list(given["categories"])
        name = Key("name", "noisy-histogram", "read: make_count_by_categories")
        cells = Key("cells", len(names), "read: its categories, without a null category")
        keys = [name, noise, adjacency, cells]
        draft = Draft("a count of each category with noise", "numbers", keys, privacy)
        data = f"np.repeat(np.array({names!r}, '{kind}'), values)"
        return _asked(draft, f"it({data})", "import numpy as np")
    return None


def _cast(it: Any) -> str | None:
    """What makes a Python number of the type that a measurement takes; None where it takes none."""
    carried = str(it.input_carrier_type)
    if any(name in carried for name in ("String", "bool")):
        return None
    return "float" if "f64" in carried or "f32" in carried else "int"


def _asked(draft: Draft, release: str, imports: str = "", refuse: Sequence[str] = ()) -> Said:
    """What was read, with a target that gives so many of `release`."""
    head = [imports, "", ""] if imports else []
    lines = [
        "def aggregate(values, size):",
        *refuse,
        f"    return [{release} for _ in range(size)]",
    ]
    return Said(draft, [*head, *lines])


def _of_epsilon(it: Any) -> Said:
    """A measurement whose law no claim can name, or does not say how it was made."""
    metric = str(it.input_metric)
    sized = metric in _BY_RECORDS and getattr(it.input_domain, "size", None) is not None
    distance = 2 if sized else 1  # data of a known size differ in two steps: one out, one in
    privacy = _privacy(it, distance, f"at distance {distance} by {metric}")
    cost = _map(it, distance)
    if str(it.output_measure) == "ZeroConcentratedDivergence" and isinstance(cost, float):
        privacy = [f"[privacy]  # read: m.map({distance}), rho of zCDP", f"zcdp = {cost!r}"]
    elif privacy[0].startswith("#"):
        privacy = [privacy[0].removeprefix("# "), 'epsilon = "?"', 'delta = "?"']
    how = _made(it)[0] or "a measurement"
    draft = draft_any(
        "what it is given, at random",
        f"read: no claim names the law of {how}",
        privacy,
        None,
        f"two inputs at distance {distance} by {metric}, in {it.input_domain}",
    )
    return Said(draft, ["def aggregate(data, size):", "    return [it(data) for _ in range(size)]"])
