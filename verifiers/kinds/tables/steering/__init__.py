"""Tables of rows that are steered to decisions of the target's code."""
