"""Theorems, figures and tables of the sources, and what the project does with each."""
