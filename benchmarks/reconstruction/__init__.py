"""The experiments of Wang et al. 2022 (Figures 4 to 7), run anew with three attacks."""
