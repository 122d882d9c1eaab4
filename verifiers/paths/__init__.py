"""Which decisions of a Python target were taken: a copy of it, counted in a process of its own."""
