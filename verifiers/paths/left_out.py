"""Why a target is not searched."""


class LeftOut(Exception):  # noqa: N818 - the search is left out, and nothing is wrong
    """A target that is not searched; the message is one line that says why."""
