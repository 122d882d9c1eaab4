"""AggregateParams of PipelineDP, alone or in a tuple with the accountant that has its budget."""

import importlib
import math
from typing import Any

from ..draft import Draft, Key
from .said import Said, noise_text

_NAMES = {"COUNT": "count", "PRIVACY_ID_COUNT": "privacy-id-count", "SUM": "sum", "MEAN": "mean"}
_NAMES |= {"VARIANCE": "variance", "VECTOR_SUM": "vector-sum"}


def read(it: Any) -> Said | None:
    """Reads parameters, or a tuple of them and their accountant; None for anything else."""
    parts = it if isinstance(it, tuple) else (it,)
    params = next((one for one in parts if type(one).__name__ == "AggregateParams"), None)
    if params is None or not params.metrics:
        return None
    accountant = next((one for one in parts if hasattr(one, "mechanism_specs")), None)
    budgets, why = _budgets(accountant)
    noises = [_aggregate(str(metric.name), params, budgets, why) for metric in params.metrics]
    place, selection = _selection(params, budgets)
    draft = Draft(
        "tables, a row for each partition",
        "tables",
        [
            Key("name", "table", "read: AggregateParams"),
            Key("adjacency", "add-remove", "read: PipelineDP's sensitivities, of a privacy id"),
            _kept(params),
            *_bounds(params),
            *place,
        ],
        _privacy(accountant, budgets),
        ["", "[mechanism.aggregates]", *(line for lines in noises for line in lines), *selection],
    )
    return Said(draft, _stub(it, params, accountant if budgets else None))


def _budgets(accountant: Any) -> tuple[dict[str, tuple[float, float]], str]:
    """Epsilon and delta by the name of a mechanism; or none, and why."""
    if accountant is None:
        return {}, "name (params, accountant), after compute_budgets, to have it read"
    specs = list(accountant.mechanism_specs)
    names = [spec.name for spec in specs]
    if not accountant.finalized or not specs:
        return {}, "compute_budgets was not called"
    if len({*names}) < len(names):
        return {}, "the accountant has several aggregations"
    try:
        return {spec.name: (float(spec.eps), float(spec.delta or 0.0)) for spec in specs}, ""
    except AssertionError:  # as of an accountant that fixes standard deviations
        return {}, "the accountant divides no epsilon"


def _kept(params: Any) -> Key:
    if params.contribution_bounds_already_enforced:
        return Key("kept", None, "contribution_bounds_already_enforced: by your code, and how?")
    if not params.perform_cross_partition_contribution_bounding:
        why = "perform_cross_partition_contribution_bounding = False: what bounds partitions?"
        return Key("kept", None, why)
    return Key("kept", "uniform", "read: PipelineDP samples rows and partitions of a privacy id")


def _bounds(params: Any) -> list[Key]:
    if params.max_contributions is not None:
        return [Key("max_rows", params.max_contributions, "read: max_contributions")]
    partitions, rows = params.max_partitions_contributed, params.max_contributions_per_partition
    return [
        Key("max_partitions", partitions, "read: max_partitions_contributed"),
        Key("max_per_partition", rows, "read: max_contributions_per_partition"),
    ]


def _privacy(accountant: Any, budgets: dict[str, tuple[float, float]]) -> list[str]:
    if not budgets:
        return ["# [privacy]  # of one table", '# epsilon = "?"', '# delta = "?"', "# queries = 1"]
    return [
        "[privacy]  # read: total_epsilon and total_delta of the accountant, of one table",
        f"epsilon = {float(accountant.total_epsilon)!r}",
        f"delta = {float(accountant.total_delta)!r}",
        "queries = 1",
    ]


def _selection(params: Any, budgets: dict[str, Any]) -> tuple[list[Key], list[str]]:
    """The key of public partitions, or the table of private ones."""
    strategy = params.partition_selection_strategy.name
    if "PartitionSelection" not in budgets:
        question = "the public ones"
        if not budgets:
            question += f", or [mechanism.selection] of private ones, by {strategy}"
        return [Key("partitions", None, question)], []
    epsilon, delta = budgets["PartitionSelection"]
    lines = ["", "[mechanism.selection]", 'counts = "users"']
    if strategy == "TRUNCATED_GEOMETRIC" and params.pre_threshold is None:
        lines.insert(2, 'strategy = "truncated-geometric"  # read: partition_selection_strategy')
        return [], [
            *lines,
            f"epsilon = {epsilon!r}  # read: PartitionSelection",
            f"delta = {delta!r}",
        ]
    said = f"{strategy}, epsilon {epsilon!r}, delta {delta!r}, pre_threshold {params.pre_threshold}"
    lines.insert(2, f'strategy = "threshold"  # {said}')
    return [], [*lines, 'noise = "?"', 'threshold = "?"', 'compare = "?"']


def _aggregate(
    metric: str, params: Any, budgets: dict[str, tuple[float, float]], why: str
) -> list[str]:
    """The lines of one metric."""
    names = {str(one.name) for one in params.metrics}
    if metric not in _NAMES:
        return [f"# {metric}: no claim names its law, and the target leaves it out"]
    low, high, values = params.min_value, params.max_value, ""
    if low is not None and metric in ("SUM", "MEAN", "VARIANCE"):
        values = f", lower = {float(low)!r}, upper = {float(high)!r}"
    if metric == "MEAN":
        values += f", centre = {low + (high - low) / 2!r}"
    budget = {"COUNT": "Count", "PRIVACY_ID_COUNT": "PrivacyIdCount", "SUM": "Sum"}.get(metric, "")
    if "VARIANCE" in names and metric != "PRIVACY_ID_COUNT":
        budget, why = "", why or "PipelineDP divides the budget of Variance by itself"
    elif "MEAN" in names:
        budget = {"COUNT": "MeanCount", "MEAN": "MeanSum", "SUM": ""}.get(metric, budget)
        why = why or "with MEAN, the sum is made of the mean and the count"
    largest = max(abs(low), abs(high)) if low is not None else None
    middle = (high - low) / 2 if low is not None else None
    each = {"COUNT": 1.0, "PRIVACY_ID_COUNT": 1.0, "SUM": largest, "MEAN": middle}.get(metric)
    if metric == "SUM" and largest is None:
        ends = f"{params.min_sum_per_partition:g} to {params.max_sum_per_partition:g}"
        budget, why = "", f"sums of a partition are clipped to {ends}: no bounds of a value say so"
    if metric == "PRIVACY_ID_COUNT" and params.post_aggregation_thresholding:
        budget, why = "", "post_aggregation_thresholding releases the count that selects"
    if metric == "VECTOR_SUM":
        norm, most = params.vector_norm_kind.value, float(params.vector_max_norm)
        values = f', size = {params.vector_size}, norm = "{norm}", max_norm = {most!r}'
        values, why = f'{values}, norm_of = "partition"', why or "by VectorSum of the accountant"
    noise, said = _noise(each, budget, metric, params, budgets)
    if metric == "MEAN" and "COUNT" not in names:
        hidden, _ = _noise(1.0, "MeanCount", "COUNT", params, budgets)
        values += f', count_noise = "{hidden or "?"}"'
    told = said or f"{params.noise_kind.value} noise, its scale? {why}"
    return [f'{_NAMES[metric]} = {{noise = "{noise or "?"}"{values}}}  # {told}']


def _noise(
    each: float | None, budget: str, metric: str, params: Any, budgets: dict[str, Any]
) -> tuple[str | None, str]:
    """The noise of a number to which a row adds `each` at most, and where it is read."""
    if each is None or budget not in budgets:
        return None, ""
    epsilon, delta = budgets[budget]
    rows = 1 if metric == "PRIVACY_ID_COUNT" else params.max_contributions_per_partition
    of = f"read: {budget} of the accountant, epsilon = {epsilon:g}"
    whole = params.max_contributions
    if params.noise_kind.name == "LAPLACE":
        norm = each * (whole or params.max_partitions_contributed * rows)
        return noise_text("laplace", norm / epsilon), f"{of}, of L1 sensitivity {norm:g}"
    if whole is None:
        norm = each * rows * math.sqrt(params.max_partitions_contributed)
    else:
        norm = math.sqrt(whole) if metric == "PRIVACY_ID_COUNT" else each * whole
    module = importlib.import_module(type(params).__module__.partition(".")[0] + ".dp_computations")
    scale = float(module.compute_sigma(epsilon, delta, norm))
    return noise_text("gaussian", scale), f"{of}, delta = {delta:g}, by its compute_sigma"


def _stub(it: Any, params: Any, accountant: Any) -> list[str]:
    """An engine with these parameters; what it is not told is left to fill as `...`."""
    place = f"[{it.index(params)}]" if isinstance(it, tuple) else ""
    epsilon = repr(accountant.total_epsilon) if accountant else "...  # fill in"
    delta = repr(accountant.total_delta) if accountant else "...  # fill in"
    known = [str(one.name) for one in params.metrics if one.name in _NAMES]
    columns = ", ".join(f'"{_NAMES[name]}": one.{_NAMES[name].replace("-", "_")}' for name in known)
    return [
        "import pipeline_dp",
        "",
        f"EPSILON = {epsilon}",
        f"DELTA = {delta}",
        "PUBLIC = None  # a list of the public partitions, as the claim has it; None: private ones",
        "EXTRACTORS = pipeline_dp.DataExtractors(",
        "    privacy_id_extractor=lambda row: row[0],",
        "    partition_extractor=lambda row: row[1],",
        "    value_extractor=lambda row: row[2],",
        ")",
        "",
        "",
        "def table(rows):",
        "    budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=DELTA)",
        "    engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())",
        f"    found = engine.aggregate(rows.tolist(), it{place}, EXTRACTORS, PUBLIC)",
        "    budget.compute_budgets()",
        f'    return [{{"partition": key, {columns}}} for key, one in found]',
        "",
        "",
        "def aggregate(rows, size):",
        "    return [table(rows) for _ in range(size)]",
    ]
