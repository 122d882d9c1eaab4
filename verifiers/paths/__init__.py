"""Which branches of a Python target are taken, seen in a confined process that runs a copy."""
