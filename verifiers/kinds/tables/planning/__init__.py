"""What a run asks of an engine: rows within the bounds of a user, and beyond them."""
