"""What a program's text contains: views, indices, writes, what is written and returned.

Coarse signatures, file names and report tables are made of this. It reads the text and the input specs, needs no torch,
and knows no shapes. `slug` and `title` are in `core.words`.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields

from inplace_fuzz.core.kinds import VIEWS, Scope, Value, index_elements
from inplace_fuzz.core.program import Program

_NOT_WRITES = frozenset({"requires_grad_", "register_buffer_", "train_", "eval_"})


@dataclass(frozen=True, slots=True)
class Features:
    """Sorted words, each once. A word that two programs share means the same in both."""

    views: tuple[str, ...] = ()  # slice, full, step, negative, select, none, ellipsis, transpose, view, expand …
    indices: tuple[str, ...] = ()  # int_list, index_tensor, bool_mask, several, separated, mixed
    writes: tuple[str, ...] = ()  # setitem, augmented, copy_, add_, fill_, index_put_, accumulate, out= …
    targets: tuple[str, ...] = ()  # input, buffer, parameter, attribute, local:zeros, local:clone …
    control: tuple[str, ...] = ()  # if, loop, second_call, helper
    returns: tuple[str, ...] = ()  # input, buffer, view, local:clone, tuple, list, dict, number
    patterns: tuple[str, ...] = ()  # snapshot, self_read, named_view, two_writes, stored_read

    def words(self) -> tuple[str, ...]:
        """All of it as one sorted tuple of `group:word`."""
        return tuple(sorted(f"{f.name}:{w}" for f in fields(self) for w in getattr(self, f.name)))


@dataclass(frozen=True, slots=True)
class Write:
    """One write: how, into which memory, through which expression. `value` is what is stored or added, if anything."""

    how: str
    into: Value
    target: ast.expr
    value: ast.expr | None
    indices: tuple[str, ...] = ()


def features(program: Program) -> Features:
    """What the program contains. Raises ProgramError where there is no class M with a forward."""
    reader = Reader(program)
    return reader.read()


class Reader:
    """One reading of forward, in order. `writes` and `returned` keep what `core.words` makes sentences of."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.scope = Scope(program)
        self.seen: dict[str, set[str]] = {f.name: set() for f in fields(Features)}
        self.writes: list[Write] = []
        self.returned: list[Value] = []
        self.snapshots: dict[str, set[str]] = {}  # memory -> the copies of it that exist
        self.named_views: set[str] = set()

    def read(self) -> Features:
        """Reads the whole program."""
        for statement in self.scope.steps():
            self._statement(statement)
        if len(self.program.calls) > 1:
            self.seen["control"].add("second_call")
        self._patterns()
        return Features(**{name: tuple(sorted(words)) for name, words in self.seen.items()})

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.If():
                self.seen["control"].add("if")
                self._expressions(statement.test)
            case ast.For() | ast.While():
                self.seen["control"].add("loop")
                self._expressions(statement.iter if isinstance(statement, ast.For) else statement.test)
            case ast.With() | ast.Try():
                pass
            case _:
                for write in self._writes_of(statement):
                    self.writes.append(write)
                    self.seen["writes"].add(write.how)
                    self.seen["targets"].add(write.into.origin or "unknown")
                self._expressions(statement)
                if isinstance(statement, ast.Return) and statement.value is not None:
                    self._return(statement.value)
                elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                    got = self.scope.value(statement.value)
                    if got.view:
                        self.named_views.add(statement.targets[0].id)

    # ------------------------------------------------------------------------------------------------------- writes
    def _writes_of(self, statement: ast.stmt) -> Iterator[Write]:
        match statement:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    if isinstance(target, ast.Subscript):
                        yield self._write("setitem", target, target.value, value)
                    elif isinstance(target, ast.Attribute):
                        yield self._write("data" if target.attr == "data" else "setattr", target, target, value)
            case ast.AugAssign(target=target, value=value) if self.scope.value(target).maybe_tensor:
                base = target.value if isinstance(target, ast.Subscript) else target
                yield self._write("augmented", target, base, value)
        for node in ast.walk(statement):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            name, receiver = node.func.attr, node.func.value
            free = isinstance(receiver, ast.Name) and receiver.id == "torch"
            if name.endswith("_") and not name.endswith("__") and name not in _NOT_WRITES and (not free or node.args):
                base, arguments = (node.args[0], node.args[1:]) if free else (receiver, node.args)
                yield self._write(name, base, base, arguments[-1] if arguments else None)
                if self._accumulates(node):
                    self.seen["writes"].add("accumulate")
                if name.startswith("index_put"):
                    self._index_argument(arguments[0] if arguments else None)
            for keyword in node.keywords:
                if keyword.arg == "out":
                    yield self._write("out=", keyword.value, keyword.value, node.args[0] if node.args else None)

    def _write(self, how: str, target: ast.expr, base: ast.expr, value: ast.expr | None) -> Write:
        kinds = tuple(self.kinds(target)) if isinstance(target, ast.Subscript) else ()
        return Write(how, self.scope.value(base), target, value, kinds)

    def _accumulates(self, node: ast.Call) -> bool:
        last = [*(k.value for k in node.keywords if k.arg == "accumulate"), *node.args[-1:]]
        assert isinstance(node.func, ast.Attribute)
        return node.func.attr in ("index_put_", "index_put", "put_") and any(
            isinstance(a, ast.Constant) and a.value is True for a in last
        )

    def _index_argument(self, argument: ast.expr | None) -> None:
        if isinstance(argument, (ast.Tuple, ast.List)):
            self.seen["indices"] |= {self._advanced_kind(e) for e in argument.elts}
            if len(argument.elts) > 1:
                self.seen["indices"].add("several")

    # -------------------------------------------------------------------------------------------------- expressions
    def _expressions(self, top: ast.AST) -> None:
        for node in ast.walk(top):
            if isinstance(node, ast.Subscript) and self.scope.value(node.value).maybe_tensor:
                for kind in self.kinds(node):
                    self.seen["indices" if kind in _ADVANCED else "views"].add(kind)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                self._called(node, node.func)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and self._is_helper(node.func.id):
                self.seen["control"].add("helper")
            elif isinstance(node, ast.Attribute) and node.attr in ("T", "mT", "data", "real", "imag"):
                self.seen["views"].add(VIEWS[node.attr])

    def _called(self, node: ast.Call, function: ast.Attribute) -> None:
        name = function.attr
        if name.endswith("_scatter") or name in ("index_put", "index_add", "index_copy", "index_fill", "masked_fill"):
            self.seen["writes"].add(f"functional:{name}")
        elif name == "view" and node.args and "torch." in ast.unparse(node.args[0]):
            self.seen["views"].add("dtype_view")
        elif name in VIEWS and not isinstance(function.value, ast.Constant):
            self.seen["views"].add(VIEWS[name])

    def _is_helper(self, name: str) -> bool:
        return any(isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name == name for n in self.program.tree.body)

    def kinds(self, node: ast.Subscript) -> Iterator[str]:
        """The kind of each element between brackets, and what the advanced ones come to together."""
        elements = index_elements(node)
        advanced = [self.scope.is_advanced(e) for e in elements]
        for element, is_advanced in zip(elements, advanced, strict=True):
            if is_advanced:
                yield self._advanced_kind(element)
            else:
                yield from _basic_kinds(element)
        places = [k for k, a in enumerate(advanced) if a]
        if len(places) > 1:
            yield "several"
            if places[-1] - places[0] >= len(places):
                yield "separated"
        if places and any(isinstance(e, (ast.Slice, ast.Constant)) for e in elements):
            yield "mixed"

    def _advanced_kind(self, element: ast.expr) -> str:
        if isinstance(element, (ast.List, ast.Tuple)):
            return (
                "bool_mask"
                if any(isinstance(e, ast.Constant) and isinstance(e.value, bool) for e in element.elts)
                else "int_list"
            )
        return "bool_mask" if self.scope.value(element).dtype == "bool" else "index_tensor"

    # ------------------------------------------------------------------------------------------------------ returns
    def _return(self, value: ast.expr) -> None:
        got = self.scope.value(value)
        if got.what in ("tuple", "list", "dict"):
            self.seen["returns"].add(got.what)
        leaves = list(got.items) if got.what in ("tuple", "list", "dict") else [got]
        for leaf in leaves:
            self.returned.append(leaf)
            self.seen["returns"].add("view" if leaf.view else leaf.origin or leaf.what)

    # ----------------------------------------------------------------------------------------------------- patterns
    def _patterns(self) -> None:
        found = self.seen["patterns"]
        written = Counter(w.into.memory for w in self.writes if w.into.memory)
        if any(v.copied and written[v.copied] for v in self.returned):
            found.add("snapshot")
        if any(count > 1 for count in written.values()):
            found.add("two_writes")
        for write in self.writes:
            names = {n.id for n in ast.walk(write.target) if isinstance(n, ast.Name)}
            if names & self.named_views:
                found.add("named_view")
            if write.value is not None and write.into.memory:
                read = {n.id for n in ast.walk(write.value) if isinstance(n, ast.Name)}
                if any(self.scope.names.get(n, Value()).memory == write.into.memory for n in read):
                    found.add("self_read")


_ADVANCED = frozenset({"int_list", "index_tensor", "bool_mask", "several", "separated", "mixed"})


def _basic_kinds(element: ast.expr) -> Iterator[str]:
    match element:
        case ast.Slice(lower=None, upper=None, step=None):
            yield "full"
        case ast.Slice(lower=lower, upper=upper, step=step):
            yield "slice"
            if step is not None:
                yield "step"
            if any(isinstance(b, ast.UnaryOp) for b in (lower, upper)):
                yield "negative"
        case ast.Constant(value=None):
            yield "none"
        case ast.Constant(value=value) if value is ...:
            yield "ellipsis"
        case ast.UnaryOp():
            yield from ("select", "negative")
        case _:
            yield "select"
