"""The checks of tables, one per file."""
