"""The decisions in a target's source: found in its syntax, and rewritten so that each is counted.

A decision is whatever may go one way or another: a test, an operand of `and` or `or`, a comparison
that is used as a mask or a factor, a loop, the case of a `match`, a handler, the choice of `min` or
`max`, a slice, a cast. Lines are too coarse: a condition on one line, `x * (h.sum() <= c)` and
`x[:16]` take no line of their own.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

COUNTER = "__dpassay_decisions__"
"""The name by which rewritten code reaches what counts; see `counting.py`."""

YES, NO = "true", "false"
TAKEN = "taken"
NEVER_RUN, ONCE, OFTEN = "no turn", "one turn", "several turns"
CUT, WHOLE = "cut", "whole"
CHANGED, KEPT = "changed", "kept"

_COMPARED = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_CHOOSING = ("min", "max")
_CLIPS = ("minimum", "maximum", "clip", "fmin", "fmax")
_TEXT = 60  # characters of the source that reports show


@dataclass(frozen=True)
class Decision:
    """One decision.

    file: its name alone; text: of the source, on one line; outcomes: the ways it may go; scope: the
    number of what counts the calls of its function, None at the level of the module; shown: whether
    a report may name it, as casts, clips and loops hardly ever tell of a mistake.
    """

    file: str
    line: int
    text: str
    outcomes: tuple[str, ...]
    scope: int | None = None
    shown: bool = True


def rewrite(source: str | bytes, file: str, first: int) -> tuple[ast.Module, list[Decision]]:
    """The syntax tree of a file with its decisions counted, and these, numbered from `first`.

    Raises SyntaxError.
    """
    tree = ast.parse(source, file)
    text = source.decode("utf-8", "replace") if isinstance(source, bytes) else source
    rewriter = _Rewriter(text, file.replace("\\", "/").rpartition("/")[2], first)
    rewriter.refusing = {id(test) for test in _refusing_tests(tree)}
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


class _Rewriter(ast.NodeTransformer):
    """Wraps what decides in a call of the counter, which gives back what it was given."""

    def __init__(self, source: str, file: str, first: int) -> None:
        self._source, self._file, self._first = source, file, first
        self.found: list[Decision] = []
        self.refusing: set[int] = set()
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

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return self._body_alone(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return self._body_alone(node)

    def _body_alone(self, node: Any) -> Any:
        outside, self._scope = self._scope, self._add(node, (TAKEN,), shown=False, text=node.name)
        entry = self._call("take", node, self._scope)
        node.body = [self.visit(each) for each in node.body]
        place = 0 if ast.get_docstring(node, clean=False) is None else 1
        node.body.insert(place, ast.copy_location(ast.Expr(entry), node))
        self._scope = outside
        return node

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
        if kind is None:
            return self._call("test", node, number, node)
        sides = node.left, node.comparators[0]
        return self._call("compare", node, number, ast.Constant(kind), *sides)

    def _leaf(self, before: ast.expr, now: ast.expr) -> ast.expr:
        """A part of a test that nothing within it counts already."""
        inner, where = before, now
        while isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
            assert isinstance(where, ast.UnaryOp)
            inner, where = inner.operand, where.operand
        counted = isinstance(inner, ast.Compare | ast.BoolOp | ast.Constant | ast.IfExp)
        if counted or id(before) in self.refusing:
            return now
        return self._call("test", before, self._add(before, (YES, NO)), now)

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
        plain = not node.keywords and not any(isinstance(one, ast.Starred) for one in node.args)
        name = node.func.id if isinstance(node.func, ast.Name) else None
        method = node.func.attr if isinstance(node.func, ast.Attribute) else None
        self.generic_visit(node)
        if name in _CHOOSING and plain and len(node.args) > 1:
            first, second = (f"argument {place}" for place in (1, 2))
            number = self._add(node, (first, second), shown=False)
            return self._call("choose", node, number, node.func, *node.args)
        if (
            method in _CLIPS
            and node.args
            and not any(isinstance(one, ast.Starred) for one in node.args)
        ):
            number = self._add(node, (CHANGED, KEPT), shown=False)
            return self._call("clip", node, number, node, node.args[0])
        if method == "astype" and not any(isinstance(one, ast.Starred) for one in node.args):
            number = self._add(node, (CHANGED, KEPT), shown=False)
            assert isinstance(node.func, ast.Attribute)
            names = ast.List([ast.Constant(one.arg) for one in node.keywords], ast.Load())
            values = [*node.args, *(one.value for one in node.keywords)]
            return self._call("cast", node, number, node.func.value, names, *values)
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
        line = getattr(node, "lineno", 0)
        self.found.append(Decision(self._file, line, words, outcomes, self._scope, shown))
        return self._first + len(self.found) - 1

    def _words(self, node: ast.AST) -> str:
        """The source of a node on one line, cut where it is long."""
        found = " ".join((ast.get_source_segment(self._source, node) or "?").split())
        return found if len(found) <= _TEXT else f"{found[:_TEXT]}..."

    def _call(self, method: str, where: ast.AST, number: int, *given: ast.expr) -> ast.Call:
        counter = ast.Attribute(ast.Name(COUNTER, ast.Load()), method, ast.Load())
        call = ast.Call(counter, [ast.Constant(number), *given], [])
        return ast.copy_location(call, where)
