"""The rows of the field: a library's call, what it documents, and what is publicly known of it."""

from dataclasses import dataclass
from pathlib import Path

CALLS = Path(__file__).parent / "calls"


@dataclass(frozen=True)
class Row:
    """A call under a claim.

    environment: by its name; call: as the library names it; script: with its words, in `calls/`;
    claim: the file beside it, without its ending; known: the public record, or what was read in
    the library's source; caught: the checks of which one fails by that record, none where the call
    is as claimed; planned: the releases that the run of a slow engine is planned for.
    """

    environment: str
    call: str
    script: str
    claim: str
    known: str
    caught: tuple[str, ...] = ()
    planned: int | None = None

    @property
    def name(self) -> str:
        """A unique name of the row."""
        return f"{self.environment} {self.script} {self.claim}"

    @property
    def claim_file(self) -> Path:
        """Its claim."""
        return CALLS / f"{self.claim}.toml"


_DP, _DIFF, _PY, _OPT = "opendp-0.16.0", "diffprivlib-0.6.6", "python-dp-1.1.5", "optax-0.2.8"
_FLWR, _OPACUS, _TMLT = "flwr-1.41.0", "opacus-1.6.0", "tmlt-core-0.20.0"
_CORRECT = "no fault known"

ROWS = (
    Row(_DP, "make_laplace, whole", "opendp_laplace.py", "opendp_laplace", _CORRECT),
    Row("opendp-0.12.1", "make_laplace, whole", "opendp_laplace.py", "opendp_laplace", _CORRECT),
    Row(_DP, "make_gaussian, whole", "opendp_gaussian.py", "opendp_gaussian", _CORRECT),
    Row(_DP, "clamp, sum, then_laplace", "opendp_sum.py", "opendp_sum", _CORRECT),
    Row(
        "opendp-0.12.1",
        "dp.len() by public keys",
        "opendp_grouped.py",
        "opendp_grouped",
        "opendp #2344: one draw for all keys without records",
        ("fresh-noise", "independence", "noise-law"),
    ),
    Row(_DP, "dp.len() by public keys", "opendp_grouped.py", "opendp_grouped", "#2344 is fixed"),
    Row(
        _DP,
        "then_laplace_threshold, as its map reports",
        "opendp_threshold.py",
        "opendp_threshold_reported",
        "opendp #2922: the reported delta leaves out a count at the threshold",
        ("partition-release",),
    ),
    Row(
        _DP,
        "then_laplace_threshold, as it releases",
        "opendp_threshold.py",
        "opendp_threshold",
        "right, for what counts at the threshold cost",
    ),
    Row(
        _DP,
        "sum in a group with max_length, as its map reports",
        "opendp_max_length.py",
        "opendp_max_length_reported",
        "opendp #2945: a group of k records can change by 2 k, its map says k",
        ("privacy-claim",),
    ),
    Row(
        _DP,
        "the same, at its exact cost",
        "opendp_max_length.py",
        "opendp_max_length",
        "right, for twice the epsilon",
    ),
    Row(_DIFF, "tools.histogram", "diffprivlib_histogram.py", "diffprivlib_histogram", _CORRECT),
    Row(
        _DIFF,
        "tools.count_nonzero, of all elements",
        "diffprivlib_count.py elements",
        "diffprivlib_count",
        "a count is truncated at the array's length (read in the source, no thread)",
        ("noise-law", "noise-scale"),
    ),
    Row(
        _DIFF,
        "tools.count_nonzero, of a public length",
        "diffprivlib_count.py public",
        "diffprivlib_count",
        "the same truncation, where it tells nothing",
    ),
    Row(_DIFF, "mechanisms.Laplace", "diffprivlib_laplace.py", "diffprivlib_laplace", _CORRECT),
    Row(
        _DIFF,
        "mechanisms.Laplace, its low bits",
        "diffprivlib_laplace.py",
        "diffprivlib_laplace_exact",
        "diffprivlib #94: low bits depend on the input",
        ("floating-point",),
    ),
    Row(_DIFF, "GaussianAnalytic", "diffprivlib_gaussian.py", "diffprivlib_gaussian", _CORRECT),
    Row(
        _DIFF,
        "GaussianAnalytic, its low bits",
        "diffprivlib_gaussian.py",
        "diffprivlib_gaussian_exact",
        "diffprivlib #94: low bits depend on the input",
        ("floating-point",),
    ),
    Row(
        _DIFF,
        "tools.sum, of any number of records",
        "diffprivlib_sum.py",
        "diffprivlib_sum",
        "a sum is truncated at n times the bounds (read in the source, no thread)",
        ("noise-law", "noise-scale"),
    ),
    Row(
        _DIFF,
        "tools.sum, of a public number",
        "diffprivlib_sum.py public",
        "diffprivlib_sum_public",
        "the same truncation, where it tells nothing",
    ),
    Row(_PY, "laplacian.Count", "pydp_count.py", "pydp_count", "a count is rounded Laplace noise"),
    Row(
        _PY,
        "laplacian.Count, taken for geometric",
        "pydp_count.py",
        "pydp_count_discrete",
        "a count is rounded Laplace noise, not the discrete one",
        ("noise-law",),
    ),
    Row(_PY, "laplacian.BoundedSum", "pydp_sum.py", "pydp_sum", _CORRECT),
    Row(
        _OPT,
        "differentially_private_aggregate",
        "optax_aggregate.py",
        "optax_aggregate",
        "a NaN in a record survives clipping (seen, no thread)",
        ("clipping",),
    ),
    Row(
        _OPT,
        "the same, of finite records",
        "optax_aggregate.py finite",
        "optax_aggregate",
        "noise multiplier and clipping across tensors as documented",
    ),
    Row(
        "jax-privacy-2.0.0",
        "clipped_grad, gaussian_privatizer",
        "jax_privacy_gradient.py",
        "jax_privacy_gradient",
        "sensitivity and noise as documented; nan_safe is its default",
    ),
    Row(
        _FLWR,
        "server-side fixed clipping, clients of equal size",
        "flwr_clipping.py equal",
        "flwr_clipping",
        "a NaN in an update survives clipping, zeros raise (seen, no thread)",
        ("clipping",),
    ),
    Row(
        _FLWR,
        "the same, of finite updates",
        "flwr_clipping.py equal finite",
        "flwr_clipping",
        "noise multiplier and clipping across tensors as documented",
    ),
    Row(
        _FLWR,
        "the same, one client with 97 examples",
        "flwr_clipping.py unequal finite",
        "flwr_clipping",
        "the noise is for equal weights, FedAvg weights by examples (seen, no thread)",
        ("noise-law", "location", "sensitivity", "clipping"),
    ),
    Row(
        _FLWR,
        "its noise on a tensor of whole numbers",
        "flwr_integers.py",
        "flwr_integers",
        "noise is cast to the tensor's type, so cut, not rounded (seen, no thread)",
        ("noise-law",),
    ),
    Row(
        _OPACUS,
        "DPOptimizer",
        "opacus_gradient.py",
        "opacus_gradient",
        "a NaN in a record survives clipping: its norm is NaN (read in the source, no thread)",
        ("clipping",),
    ),
    Row(
        _OPACUS,
        "the same, of finite records",
        "opacus_gradient.py finite",
        "opacus_gradient",
        "noise multiplier and clipping across tensors as documented",
    ),
    Row(
        _OPACUS,
        "make_private, where the loader's batch size is claimed",
        "opacus_gradient.py engine finite",
        "opacus_gradient",
        "opacus #571, #819: the divisor is made of the number of records",
        ("noise-law", "noise-scale", "location"),
    ),
    Row(
        "opacus-1.5.2",
        "ghost clipping, max_grad_norm 0.5",
        "opacus_ghost.py weight 0.5",
        "opacus_ghost_half",
        "opacus #664: make_private clips to 1, whatever max_grad_norm is",
        ("clipping", "sensitivity"),
    ),
    Row(
        _OPACUS,
        "ghost clipping, max_grad_norm 0.5",
        "opacus_ghost.py weight 0.5",
        "opacus_ghost_half",
        "#664 is fixed",
    ),
    Row(
        "opacus-1.5.2",
        "ghost clipping, a bias over two steps",
        "opacus_ghost.py bias 1",
        "opacus_ghost",
        "opacus #751: the norm of such gradients is wrong, here half of its square",
        ("clipping", "sensitivity"),
    ),
    Row(
        _OPACUS,
        "ghost clipping, a bias over two steps",
        "opacus_ghost.py bias 1",
        "opacus_ghost",
        "#751 is fixed",
    ),
    Row(_TMLT, "AddGeometricNoise", "tmlt_whole.py geometric", "tmlt_geometric", _CORRECT),
    Row(_TMLT, "AddDiscreteGaussianNoise", "tmlt_whole.py gaussian", "tmlt_gaussian", _CORRECT),
    Row(
        _TMLT,
        "AddLaplaceNoise, its low bits",
        "tmlt_laplace.py",
        "tmlt_laplace",
        "the sum is sampled, by its inverse CDF to the last bit (read in the source)",
    ),
)

LATER = (
    ("opendp 0.16.0", "b-ary tree, #2924", "an L2 sensitivity alone: no aggregation of that form"),
)
"""What is not in the table, and why: library, call, reason."""
