"""The checks of keys, one per file."""
