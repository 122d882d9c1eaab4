"""Packages that only some of what is offered needs: what to install where one is absent."""

_PACKAGES = {
    "dp_accounting": "dp-accounting",
    "flint": "python-flint",
    "jaxlib": "jax",
    "sklearn": "scikit-learn",
}
"""What to install for a module of another name."""


def missing_package(error: ModuleNotFoundError) -> str:
    """What to install for the module that was not found; empty for one of dpassay's own."""
    module = (error.name or "").partition(".")[0]
    return "" if module == "dpassay" else _PACKAGES.get(module, module)
