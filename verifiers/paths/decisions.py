"""The decisions in a target's source: found in its syntax, and rewritten so that each is counted.

That is whatever may go one way or another: a test, an operand of `and` or `or`, a comparison used
as a mask or a factor, a loop, a case, a handler, `min` or `max`, a slice, a cast. Lines are too
coarse: `x * (h.sum() <= c)` and `x[:16]` take no line of their own.
"""

import ast
from collections.abc import Iterable
from importlib.util import decode_source
from typing import Any

from .decision import (
    CHANGED,
    CUT,
    KEPT,
    NEVER_RUN,
    NO,
    OFTEN,
    ONCE,
    SHOWN,
    TAKEN,
    WHOLE,
    YES,
    Decision,
)

COUNTER = "__dpassay_decisions__"
"""The name by which rewritten code reaches what counts; see `counting.py`."""

_COMPARED = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_CHOOSING = ("min", "max")
_CHANGING = ("minimum", "maximum", "clip", "fmin", "fmax", "astype")
_COMPILING = ("jit", "njit", "vectorize", "guvectorize", "stencil", "cfunc", "script")


def rewrite(source: str | bytes, file: str, first: int) -> tuple[ast.Module, list[Decision]]:
    """The syntax tree of a file with its decisions counted, and these, numbered from `first`.

    Raises SyntaxError.
    """
    tree = ast.parse(source, file)
    text = decode_source(source) if isinstance(source, bytes) else source
    rewriter = _Rewriter(text, file.replace("\\", "/").rpartition("/")[2], first)
    rewriter.refusing = {id(test) for test in _refusing_tests(tree)}
    rewriter.truths = _truths(tree)
    changed: ast.Module = rewriter.visit(tree)
    return ast.fix_missing_locations(changed), rewriter.found


def _refusing_tests(tree: ast.AST) -> Iterable[ast.AST]:
    """Every part of a test that ends in `raise`: it guards the input, and takes no branch."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.If) and (_raises(node.body) or _raises(node.orelse))
        ) or isinstance(node, ast.Assert):
            yield from ast.walk(node.test)


def _raises(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Raise)


def _truths(tree: ast.AST) -> set[int]:
    """By their identities, the expressions of which nothing but the truth is used."""
    found: set[int] = set()
    for node in ast.walk(tree):  # what holds a node comes before it
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            found.add(id(node.test))
        elif isinstance(node, ast.comprehension):
            found.update(map(id, node.ifs))
        elif isinstance(node, ast.match_case):
            found.add(id(node.guard))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            found.add(id(node.operand))
        elif isinstance(node, ast.BoolOp) and id(node) in found:
            found.update(map(id, node.values))
    return found


def _is_compiled(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a decorator compiles a function, which could then not call what counts."""
    for each in node.decorator_list:  # jit, numba.jit(...), partial(jax.jit, ...)
        parts = [each.func, *each.args[:1]] if isinstance(each, ast.Call) else [each]
        if any(_last_name(part) in _COMPILING for part in parts):
            return True
    return False


def _last_name(node: ast.expr) -> str | None:
    """The name of a function or of an attribute, without what it belongs to."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


class _Rewriter(ast.NodeTransformer):
    """Wraps what decides in a call of the counter, which gives back what it was given."""

    def __init__(self, source: str, file: str, first: int) -> None:
        # As the parser counts: lines end in what Python takes for it, columns are bytes of UTF-8.
        whole = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        self._lines = whole.encode("utf-8").split(b"\n")
        self._file, self._first = file, first
        self.found: list[Decision] = []
        self.refusing: set[int] = set()
        self.truths: set[int] = set()
        self._scope: int | None = None

    # -- what is left as it is -------------------------------------------------------------------

    def visit_Assert(self, node: ast.Assert) -> Any:
        return node

    def visit_arg(self, node: ast.arg) -> Any:
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        if _is_compiled(node):
            return node
        outside, self._scope = self._scope, self._add(node, (TAKEN,), shown=False, text=node.name)
        entry = self._call("take", node, self._scope)
        node.body = [self.visit(each) for each in node.body]
        place = 0 if ast.get_docstring(node, clean=False) is None else 1
        node.body.insert(place, ast.copy_location(ast.Expr(entry), node))
        self._scope = outside
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return self.visit_FunctionDef(node)

    def visit_TypeAlias(self, node: Any) -> Any:
        return node

    # -- tests -----------------------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> Any:
        return self._tested(node)

    def visit_While(self, node: ast.While) -> Any:
        return self._tested(node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        return self._tested(node)

    def _tested(self, node: Any) -> Any:
        test = node.test
        self.generic_visit(node)
        node.test = self._leaf(test, node.test)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        before = list(node.values)
        self.generic_visit(node)
        node.values = [self._leaf(*each) for each in zip(before, node.values, strict=True)]
        return node

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        before = list(node.ifs)
        self.generic_visit(node)
        node.ifs = [self._leaf(*each) for each in zip(before, node.ifs, strict=True)]
        return node

    def visit_Compare(self, node: ast.Compare) -> Any:
        kind = _COMPARED.get(type(node.ops[0])) if len(node.ops) == 1 else None
        self.generic_visit(node)
        if id(node) in self.refusing:
            return node
        number = self._add(node, (YES, NO))
        truth = id(node) in self.truths
        if kind is None:
            return self._call("truth" if truth else "test", node, number, node)
        given = ast.Constant(kind), node.left, node.comparators[0]
        return self._call("decide" if truth else "compare", node, number, *given)

    def _leaf(self, before: ast.expr, now: ast.expr) -> ast.expr:
        """A part of a test that nothing within it counts already."""
        inner, where = before, now
        while isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
            assert isinstance(where, ast.UnaryOp)
            inner, where = inner.operand, where.operand
        counted = isinstance(inner, ast.Compare | ast.BoolOp | ast.Constant | ast.IfExp)
        if counted or id(before) in self.refusing:
            return now
        method = "truth" if id(before) in self.truths else "operand"
        return self._call(method, before, self._add(before, (YES, NO)), now)

    # -- loops, cases and handlers ---------------------------------------------------------------

    def visit_For(self, node: ast.For) -> Any:
        header = node.iter
        self.generic_visit(node)
        number = self._add(header, (NEVER_RUN, ONCE, OFTEN), shown=False)
        node.iter = self._call("loop", header, number, node.iter)
        return node

    def visit_match_case(self, node: Any) -> Any:
        where = node.pattern
        self.generic_visit(node)
        if not _raises(node.body):
            node.body.insert(0, self._mark(where, f"case {self._words(where)}"))
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        raises = _raises(node.body)
        self.generic_visit(node)
        if not raises:
            kind = "" if node.type is None else f" {self._words(node.type)}"
            node.body.insert(0, self._mark(node, f"except{kind}"))
        return node

    def _mark(self, where: ast.AST, text: str) -> ast.Expr:
        number = self._add(where, (TAKEN,), text=text)
        return ast.copy_location(ast.Expr(self._call("take", where, number)), where)

    # -- choices without a test ------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else None
        method = node.func.attr if isinstance(node.func, ast.Attribute) else None
        self.generic_visit(node)
        if any(isinstance(one, ast.Starred) for one in node.args):
            return node
        if name in _CHOOSING and not node.keywords and len(node.args) > 1:
            first, second = (f"argument {place}" for place in (1, 2))
            number = self._add(node, (first, second), shown=False)
            return self._call("choose", node, number, node.func, *node.args)
        words = [one.arg for one in node.keywords]
        if method in _CHANGING and None not in words:
            number = self._add(node, (CHANGED, KEPT), shown=False)
            names = ast.List([ast.Constant(word) for word in words], ast.Load())
            values = [*node.args, *(one.value for one in node.keywords)]
            return self._call("change", node, number, node.func, names, *values)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        piece = node.slice
        self.generic_visit(node)
        upper = piece.upper if isinstance(piece, ast.Slice) else None
        if not isinstance(node.ctx, ast.Load) or upper is None:
            return node
        assert isinstance(node.slice, ast.Slice)
        constant = isinstance(upper, ast.Constant) or (
            isinstance(upper, ast.Name) and upper.id.isupper()
        )
        number = self._add(node, (CUT, WHOLE), shown=constant)
        parts = (node.slice.lower, node.slice.upper, node.slice.step)
        given = [ast.Constant(None) if part is None else part for part in parts]
        return self._call("piece", node, number, node.value, *given)

    # -- in short --------------------------------------------------------------------------------

    def _add(
        self, node: Any, outcomes: tuple[str, ...], *, shown: bool = True, text: str | None = None
    ) -> int:
        """The number of a new decision."""
        words = self._words(node) if text is None else text
        self.found.append(Decision(self._file, node.lineno, words, outcomes, self._scope, shown))
        return self._first + len(self.found) - 1

    def _words(self, node: ast.AST) -> str:
        """The source of a node on one line, cut where it is long."""
        found = " ".join(self._cut(node).split()) or "?"
        return found if len(found) <= SHOWN else f"{found[:SHOWN]}..."

    def _cut(self, node: Any) -> str:
        """The source of a node; `ast.get_source_segment` splits the whole file for each."""
        lines = self._lines[node.lineno - 1 : node.end_lineno]
        if lines:
            lines[-1] = lines[-1][: node.end_col_offset]  # before the start, which may be its line
            lines[0] = lines[0][node.col_offset :]
        return b"\n".join(lines).decode("utf-8", "replace")

    def _call(self, method: str, where: ast.AST, number: int, *given: ast.expr) -> ast.Call:
        counter = ast.Attribute(ast.Name(COUNTER, ast.Load()), method, ast.Load())
        call = ast.Call(counter, [ast.Constant(number), *given], [])
        return ast.copy_location(call, where)
