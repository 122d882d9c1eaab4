"""The checks of tallies."""
