"""Where a target's source looks like a known mistake: hints to look at, never a verdict.

They are read from the syntax of one function at a time, and run nothing. Each kind holds five times
to one on the zoos of this project, broken against correct, to which `tests/paths/test_hints.py`
holds them.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

SEED_OF_DATA, SEED_OF_TIME, SEED_OF_PROCESS = "seed-of-data", "seed-of-time", "seed-of-process"
SEED_OF_FEW = "seed-of-few-bits"
MADE_WHOLE, SCALE_OF_DATA = "made-whole", "scale-of-data"

WORDS = {
    SEED_OF_DATA: "the generator's seed is made of the {data}",
    SEED_OF_TIME: "the generator's seed is made of the time",
    SEED_OF_PROCESS: "the generator's seed is made of the process id",
    SEED_OF_FEW: "the generator's seed has no more than {data} bits, which can be tried one by one",
    MADE_WHOLE: "noise is made whole",
    SCALE_OF_DATA: "the scale of the noise is made of the {data}",
}

_DATA = {"histogram", "hist", "histograms", "votes", "counts", "values", "data", "records", "rows"}
_SHAPES = {"size", "shape", "ndim", "dtype", "nbytes", "columns"}
_OF_SHAPE = {"len", "shape", "size", "zeros_like", "ones_like", "empty_like", "range", "isinstance"}
_GENERATORS = {"default_rng", "RandomState", "SeedSequence", "Random", "PCG64", "PCG64DXSM"}
_GENERATORS |= {"Philox", "SFC64", "MT19937", "seed", "manual_seed", "PRNGKey"}
_TIMES = {"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "now", "utcnow"}
_TIMES |= {"perf_counter_ns"}
_PROCESSES = {"getpid", "getppid", "get_ident"}
_BITS = {"randbits": 1, "getrandbits": 1, "token_bytes": 8, "urandom": 8}
_ENOUGH = 64  # bits of a seed that nobody tries one by one
_SCALES = {"normal": 1, "laplace": 1, "gumbel": 1, "logistic": 1, "gauss": 1, "normalvariate": 1}
_SCALES |= {"exponential": 0, "gamma": 1}
_UNIT = {"standard_normal", "standard_exponential", "standard_cauchy", "standard_gamma", "randn"}
_DRAWS = {*_SCALES, *_UNIT, "Normal", "Laplace", "expovariate", "geometric"}
_WHOLE = {"int", "round", "rint", "floor", "ceil", "trunc", "around"}
_CHOOSING = {"argmax", "argmin", "choice", "permutation", "integers"}
_HELD: dict[Any, tuple[str, ...]] = {
    ast.BinOp: ("left", "right"),
    ast.UnaryOp: ("operand",),
    ast.IfExp: ("body", "orelse"),
    ast.Subscript: ("value",),
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Hint:
    """A place in a source that looks like a mistake.

    file: its name alone; kind: one of those of this file; function: the line of the function, None
    at the level of the module; words: what to look at there.
    """

    file: str
    line: int
    kind: str
    function: int | None
    words: str


def hints(tree: ast.Module, file: str) -> list[Hint]:
    """The hints of a file, in the order of its lines."""
    found = list(_Scope(tree, file, {}, set()).hints())
    unique = {(one.line, one.kind): one for one in found}
    return sorted(unique.values(), key=lambda one: (one.line, one.kind))


class _Scope:
    """A function, or a module: what its names are made of, by all of its assignments.

    data: names made of the histogram, each with the parameter's name; noise: names that hold what
    was drawn.
    """

    def __init__(self, node: Any, file: str, data: dict[str, str], noise: set[str]) -> None:
        self._node, self._file = node, file
        self._line = None if isinstance(node, ast.Module) else node.lineno
        self._data, self._noise = dict(data), set(noise)
        if not isinstance(node, ast.Module):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            for each in given:
                self._data.pop(each.arg, None)
                self._noise.discard(each.arg)
            self._data |= {each.arg: each.arg for each in given if each.arg in _DATA}
        self._own = list(_own(node))
        for _ in range(3):  # names are made of names that are assigned further down in a loop
            self._follow(node.body, None)

    def hints(self) -> Iterator[Hint]:
        """Those of this scope, and of the functions within it."""
        for node in self._own:
            if isinstance(node, ast.Call):
                yield from self._of_call(node)
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
                if self._is_noise(node.left):
                    yield self._hint(node, MADE_WHOLE)
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
                yield from self._of_product(node)
        for inner in _inner(self._node):
            yield from _Scope(inner, self._file, self._data, self._noise).hints()

    def _hint(self, node: Any, kind: str, data: str = "") -> Hint:
        words = WORDS[kind].format(data=data)
        return Hint(self._file, node.lineno, kind, self._line, words)

    # -- what names are made of ------------------------------------------------------------------

    def _follow(self, body: Sequence[ast.stmt], under: str | None) -> None:
        """Notes the names that statements assign; under: the data that decides of them, if any."""
        for node in body:
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
                self._assign(node, under)
            elif isinstance(node, ast.For):
                made = self._made_of(node.iter)
                for name in _names(node.target):
                    if made is not None:
                        self._data[name] = made
            for inner in _blocks(node):
                test = getattr(node, "test", None)
                decides = None if test is None else self._made_of(test)
                self._follow(inner, under or decides)

    def _assign(self, node: Any, under: str | None) -> None:
        if node.value is None:
            return
        made, noise = self._made_of(node.value) or under, self._is_noise(node.value)
        for target in getattr(node, "targets", None) or [node.target]:
            for name in _names(target):
                if made is not None and not noise:
                    self._data[name] = made
                if noise:
                    self._noise.add(name)

    def _made_of(self, node: ast.AST | None) -> str | None:
        """The data that an expression is made of, but for its shape and for what has noise."""
        if node is None or isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            return None
        if isinstance(node, ast.Name):
            return self._data.get(node.id)
        if isinstance(node, ast.Attribute) and node.attr in _SHAPES:
            return None
        if isinstance(node, ast.Call) and _name(node.func) in {*_OF_SHAPE, *_DRAWS}:
            return None
        found = (self._made_of(child) for child in ast.iter_child_nodes(node))
        return next((one for one in found if one is not None), None)

    def _is_noise(self, node: ast.AST | None) -> bool:
        """Whether an expression holds what was drawn, its arguments and subscripts apart."""
        if isinstance(node, ast.Name):
            return node.id in self._noise
        if isinstance(node, ast.Call):
            name, method = _name(node.func), isinstance(node.func, ast.Attribute)
            if name in _DRAWS and method:
                return True
            parts = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            return name not in _CHOOSING and any(self._is_noise(e) for e in [*parts, *node.args])
        held = _HELD.get(type(node), ())
        return any(self._is_noise(getattr(node, field)) for field in held)

    # -- kinds of hints --------------------------------------------------------------------------

    def _of_call(self, node: ast.Call) -> Iterator[Hint]:
        name = _name(node.func)
        given = [*node.args, *(word.value for word in node.keywords)]
        if name in _GENERATORS:
            yield from self._of_seed(node, given)
        if name in _SCALES:
            place = _SCALES[name]
            scale = node.args[place] if len(node.args) > place else None
            named = [w.value for w in node.keywords if w.arg in ("scale", "sigma", "std")]
            made = self._made_of(next(iter(named), scale))
            if made is not None:
                yield self._hint(node, SCALE_OF_DATA, made)
        whole = name in _WHOLE and any(self._is_noise(each) for each in given[:1])
        if name == "astype" and isinstance(node.func, ast.Attribute) and given:
            whole = "int" in ast.unparse(given[0]) and self._is_noise(node.func.value)
        if whole:
            yield self._hint(node, MADE_WHOLE)

    def _of_seed(self, node: ast.Call, given: Iterable[ast.expr]) -> Iterator[Hint]:
        for each in given:
            called = {_name(n.func) for n in ast.walk(each) if isinstance(n, ast.Call)}
            made = self._made_of(each)
            if made is not None:
                yield self._hint(node, SEED_OF_DATA, made)
            elif called & _TIMES:
                yield self._hint(node, SEED_OF_TIME)
            elif called & _PROCESSES:
                yield self._hint(node, SEED_OF_PROCESS)
            elif (bits := _bits(each)) is not None and bits < _ENOUGH:
                yield self._hint(node, SEED_OF_FEW, str(bits))

    def _of_product(self, node: ast.BinOp) -> Iterator[Hint]:
        """Noise of scale one, times what is made of the data."""
        for draw, factor in ((node.left, node.right), (node.right, node.left)):
            made = self._made_of(factor)
            if made and isinstance(draw, ast.Call) and _name(draw.func) in _DRAWS:
                yield self._hint(node, SCALE_OF_DATA, made)


def _bits(node: ast.AST) -> int | None:
    """How many bits are drawn in an expression that draws once; None where that is not plain."""
    drawn = [n for n in ast.walk(node) if isinstance(n, ast.Call) and _name(n.func) in _BITS]
    given = drawn[0].args if len(drawn) == 1 else []
    if len(given) != 1 or not isinstance(given[0], ast.Constant):
        return None
    number = given[0].value
    return number * _BITS[_name(drawn[0].func)] if isinstance(number, int) else None


def _name(function: ast.AST) -> str:
    """The last name of what is called."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _names(target: ast.AST) -> Iterator[str]:
    """The names that an assignment gives a value, or a part of one."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _names(each)
    elif isinstance(target, ast.Starred | ast.Subscript):
        yield from _names(target.value)


def _own(node: Any) -> Iterator[ast.AST]:
    """All nodes of a scope, without the functions within it."""
    left: list[ast.AST] = list(node.body)
    while left:
        each = left.pop()
        if isinstance(each, _FUNCTIONS):
            left += each.decorator_list
            continue
        yield each
        left += ast.iter_child_nodes(each)


def _inner(node: Any) -> Iterator[Any]:
    """The functions within a scope, those of its classes too."""
    left: list[ast.AST] = list(node.body)
    while left:
        each = left.pop()
        if isinstance(each, _FUNCTIONS):
            yield each
        else:
            left += ast.iter_child_nodes(each)


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks of a compound statement that runs in the scope it stands in."""
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        return
    for field in ("body", "orelse", "finalbody"):
        yield getattr(node, field, [])
    for part in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
        yield part.body
