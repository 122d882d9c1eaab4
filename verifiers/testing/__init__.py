"""The gate inside tests: one run for all processes of pytest, and an assertion."""
