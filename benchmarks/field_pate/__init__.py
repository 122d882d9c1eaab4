"""PATE code of public repositories through the gate: `python -m benchmarks.field_pate`."""
