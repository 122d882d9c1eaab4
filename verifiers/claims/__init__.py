"""The tables of every claim, and how the target of a claim is opened."""
