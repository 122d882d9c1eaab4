"""The whole numbers that stand in a target's source: sizes and thresholds are made of them."""

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence

SMALL = 4
"""Below this a constant is everywhere, and tells nothing."""

LARGEST = 200_000
"""Largest size of an input that is made of a constant."""

_MOST_POWER = 64
_MOST_REMAINDER = 100
_MOST = 1e15  # beyond, floats do not hold whole numbers
_PLAIN: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_OF_TYPES = {
    "int8": 1 << 7,
    "uint8": 1 << 8,
    "int16": 1 << 15,
    "uint16": 1 << 16,
    "int32": 1 << 31,
    "float16": 1 << 11,
    "float32": 1 << 24,
    "i1": 1 << 7,
    "u1": 1 << 8,
    "i2": 1 << 15,
    "u2": 1 << 16,
    "f2": 1 << 11,
}
"""Where a type of numbers ends, or no longer holds every whole number."""


def whole_constants(tree: ast.AST) -> list[int]:
    """The whole numbers from 0 on in a file, ascending, each once.

    Those of sums, products, powers and shifts of constants and of the module's own names too, and
    where the types of numbers that it names end.
    """
    names = dict(_named(tree))
    found = set[int]()
    for node in ast.walk(tree):
        value = _value(node, names)
        if value is not None and value >= 0 and value == int(value):
            found.add(int(value))
        word = _word(node)
        if word is not None and word.lstrip("<>=|") in _OF_TYPES:
            found.add(_OF_TYPES[word.lstrip("<>=|")])
    return sorted(found)


def around(constant: int) -> Iterator[int]:
    """The sizes that a constant suggests: beside it, and far enough beyond for its effect to show.

    At one more than the size of a chunk, one record in thousands is treated anew: that is reached,
    and shows nothing.
    """
    for size in (constant, constant + 1, constant - 1, 2 * constant, 4 * constant + 1):
        if size >= 0:
            yield size


def sums(constants: Sequence[int]) -> Iterator[int]:
    """Sizes that leave one constant as the remainder of another."""
    small = [c for c in constants if 0 < c <= _MOST_REMAINDER]
    for whole in constants:
        if SMALL <= whole <= LARGEST // 2:
            for rest in small:
                if rest < whole:
                    yield whole + rest
                    yield 2 * whole + rest


def _named(tree: ast.AST) -> Iterator[tuple[str, float]]:
    """The names that a module gives to numbers."""
    known = dict[str, float]()
    for node in getattr(tree, "body", ()):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        given = getattr(node, "value", None)
        if isinstance(target, ast.Name) and given is not None:
            value = _value(given, known)
            if value is not None:
                known[target.id] = value
                yield target.id, value


def _value(node: ast.AST, names: dict[str, float]) -> float | None:
    """The number that an expression of constants stands for, None where it is none."""
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return float(value) if abs(value) < _MOST else None
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        return _value(node.args[0], names) if node.func.id in ("int", "float", "round") else None
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _value(node.left, names), _value(node.right, names)
    return None if left is None or right is None else _computed(node.op, left, right)


def _computed(sign: ast.operator, left: float, right: float) -> float | None:
    plain = _PLAIN.get(type(sign))
    if plain is not None:
        return plain(left, right)
    if isinstance(sign, ast.FloorDiv | ast.Div):
        divided = operator.floordiv if isinstance(sign, ast.FloorDiv) else operator.truediv
        return divided(left, right) if right else None
    small = 0 <= right <= _MOST_POWER and abs(left) <= LARGEST
    if not small or not isinstance(sign, ast.Pow | ast.LShift):
        return None
    found = left**right if isinstance(sign, ast.Pow) else left * 2.0**right
    return float(found) if abs(found) < _MOST else None


def _word(node: ast.AST) -> str | None:
    """A name that may be that of a type."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
