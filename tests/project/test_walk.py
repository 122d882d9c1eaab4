"""Whoever reads along a call returns to a file: counted on two files that call each other."""

import sys
from importlib import import_module
from pathlib import Path

stays = import_module("benchmarks.walk").stays

FIRST = """
from {other} import shown, other

def begin():
    shown()
    [after(n) for n in range(2)]
    shown()
    other()

def after(n):
    return n
"""
OTHER = """
def shown():
    return 1

def other():
    return shown()
"""


def test_a_function_is_read_once_and_a_file_returned_to_for_new_ones(tmp_path, monkeypatch) -> None:
    """Catches returns counted at every call: `shown` is called again, and has been read."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "walked_first.py").write_text(FIRST.format(other="walked_other"))
    (tmp_path / "walked_other.py").write_text(OTHER)
    begin = import_module("walked_first").begin
    found = stays(begin, Path(tmp_path))
    assert found == ["walked_first.py", "walked_other.py", "walked_first.py", "walked_other.py"]
    assert sys.getprofile() is None
