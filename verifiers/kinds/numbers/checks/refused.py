"""The warning about altered inputs that a target refuses."""


def said_of(refused: list[tuple[str, str]]) -> str | None:
    """One warning for all altered inputs, by name, and what the target said of them."""
    names: dict[str, list[str]] = {}
    for name, why in refused:
        names.setdefault(why, []).append(name)
    messages = [
        f"{each[0]}{f' and {len(each) - 1} like it' if len(each) > 1 else ''} "
        f"{'are' if len(each) > 1 else 'is'} refused: {why}"
        for why, each in names.items()
    ]
    return "; ".join(messages) or None
