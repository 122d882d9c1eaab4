"""What can be read from released labels; histogram reconstruction is built on `reference` next."""

if __name__ != "dpassay.attacks":  # found as a bare folder: a second copy of every class
    raise ImportError(f"this package is dpassay.attacks; do not import it as {__name__}")
