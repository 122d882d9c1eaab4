"""Packages that only some of what is offered needs: what to install where one is absent."""

from importlib.util import find_spec

_PACKAGES = {
    "dp_accounting": "dp-accounting",
    "flint": "python-flint",
    "jaxlib": "jax",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
}
"""What to install for a module of another name."""


def missing_package(error: ModuleNotFoundError) -> str:
    """What to install for the module that was not found; empty for one of dpassay's own."""
    module = (error.name or "").partition(".")[0]
    return "" if module == "dpassay" else _PACKAGES.get(module, module)


def lacking(what: str, *modules: str) -> str | None:
    """Says which of the modules that `what` needs are absent; None where none is.

    Nothing is imported, so that it is said at once, and before any work that would be lost.
    """
    packages = [_PACKAGES.get(module, module) for module in modules if not _is_there(module)]
    if not packages:
        return None
    are = "is" if len(packages) == 1 else "are"
    named = " and ".join(packages)
    return f"{what} needs {named}, which {are} not installed: pip install {' '.join(packages)}"


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):  # a finder that refuses it, or a broken module
        return False
