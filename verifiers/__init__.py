"""The gate: claims, targets, evidence, checks and their verdicts."""

if __name__ != "dpassay.verifiers":  # found as a bare folder: a second copy of every class
    raise ImportError(f"this package is dpassay.verifiers; do not import it as {__name__}")
