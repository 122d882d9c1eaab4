"""How well exposure is extrapolated, and what models trained here expose, also under DP-SGD."""
