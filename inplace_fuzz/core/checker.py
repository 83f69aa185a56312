"""The allowlist of `vetting.py`, applied to a syntax tree: one rule for each kind of statement and expression."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import types
from collections.abc import Iterable, Iterator
from typing import NoReturn

from inplace_fuzz.core.bindings import (
    amount,
    bound_by,
    bound_in,
    elements,
    every,
    instances,
    is_bound,
    is_text,
    longest_module,
    makes,
    number,
    rebinds,
)
from inplace_fuzz.core.intake import TRUST
from inplace_fuzz.core.program import ProgramError
from inplace_fuzz.core.text import is_main_block
from inplace_fuzz.core.vocabulary import ASSIGNABLE, ATTRIBUTES, BASES, BUILTINS, MODES, NAMES, SHADOWED, TAKEN

ELEMENTS = 1 << 22
_LARGEST = 1 << 64
_POWER = 64
_STRING = re.compile(r"[A-Za-z0-9_ .,:;<>=+*/()\[\]|!?#@&~^$-]{0,200}")  # no quote, backslash, brace or line end


def refuse(name: str, line: int, what: str) -> NoReturn:
    raise ProgramError(f"{name} line {line} has {what}: not allowed in a file from elsewhere; {TRUST}")


# Nodes that are allowed wherever Python's grammar has them, when what is in them is.
_PLAIN = (
    ast.Module, ast.Return, ast.Assign, ast.AugAssign, ast.Delete, ast.For, ast.If, ast.Expr, ast.Pass, ast.Break,
    ast.Continue, ast.Assert, ast.Raise, ast.BoolOp, ast.UnaryOp, ast.IfExp, ast.Dict, ast.Set, ast.ListComp,
    ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.Compare, ast.Subscript, ast.Starred, ast.List,
    ast.Tuple, ast.Slice, ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop,
)  # fmt: skip
_WORDS = {
    "JoinedStr": "an f-string", "NamedExpr": "`:=`", "Try": "`try`", "TryStar": "`try`", "Global": "`global`",
    "Nonlocal": "`nonlocal`", "Lambda": "a lambda", "Yield": "`yield`", "YieldFrom": "`yield`", "Await": "`await`",
    "AsyncFunctionDef": "`async`", "AsyncFor": "`async`", "AsyncWith": "`async`", "Match": "`match`",
    "TypeAlias": "a `type` statement", "TypeVar": "a type parameter", "ParamSpec": "a type parameter",
    "TypeVarTuple": "a type parameter",
}  # fmt: skip
_TOP_LEVEL = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.Assign, ast.AnnAssign, ast.Expr)
_IN_CLASS = (ast.FunctionDef, ast.Assign, ast.AnnAssign, ast.Expr, ast.Pass)
_NAMED_IN_TEXT = frozenset({"register_buffer", "register_parameter", "add_module", "register_module"})
# What of Python's own leads out of the program: frames, code, exceptions, classes, and text that names attributes.
_LEADING = (
    types.GeneratorType, types.FrameType, types.CodeType, types.TracebackType, types.FunctionType, types.MethodType,
    BaseException, type,
)  # fmt: skip
_NOT_OWN = TAKEN | {name for kind in _LEADING for name in dir(kind)} | {"format", "format_map"}
_FORBIDDEN_BUILTINS = frozenset(dir(builtins)) - BUILTINS - SHADOWED
_OWN_DUNDERS = frozenset({"__init__", "__constants__"})


class Checker:
    def __init__(self, tree: ast.Module, name: str) -> None:
        self._tree = ast.Module([s for s in tree.body if not is_main_block(s)], [])
        self._name = name
        self._modules: dict[str, str] = {}  # a name in the file -> the module, or the thing in it, that it stands for
        self._own: set[str] = set()  # attributes that the file itself makes
        self._parts: set[str] = set()  # those of them that are instances of its classes, wherever they are assigned
        self._self = ""  # what the method at hand calls its instance
        self._methods: set[str] = set()  # of the class whose body is being looked at
        self._instances: set[str] = set()  # variables of the function at hand that are new instances of its classes
        self._classes = {n.name for n in tree.body if isinstance(n, ast.ClassDef)}
        self._scopes: list[set[str]] = []
        self._annotating = False
        self._called: ast.expr | None = None
        self._line = 1

    def check(self) -> None:
        self._imports()
        self._own = set(self._own_attributes())
        self._parts = self._own - self._of_other_kinds()
        for node in ast.walk(self._tree):
            for bound in bound_by(node):
                self._binding(bound, node)
        self._scopes = [bound_in(self._tree.body)]
        for statement in self._tree.body:
            self._line = statement.lineno
            if not isinstance(statement, _TOP_LEVEL):
                self._no(f"{_word(statement)} outside of any function")
            self._visit(statement)

    def _no(self, what: str) -> NoReturn:
        refuse(self._name, self._line, what)

    # ------------------------------------------------------------------------------------------- what the file makes
    def _imports(self) -> None:
        for node in self._tree.body:
            if not isinstance(node, (ast.Import, ast.ImportFrom)):
                continue
            self._line = node.lineno
            base = node.module if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                path = f"{base}.{alias.name}" if base else alias.name
                known = path in NAMES or (base in NAMES and alias.name in NAMES[base])
                if not known or (isinstance(node, ast.ImportFrom) and node.level):
                    self._no(f"`{ast.unparse(node)}`")
                whole = not base and alias.asname is None  # `import torch.nn` makes the name torch
                name = path.partition(".")[0] if whole else alias.asname or alias.name
                path = name if whole else path
                if self._modules.setdefault(name, path) != path:
                    self._no(f"another meaning for the import `{name}`")

    def _own_attributes(self) -> Iterator[str]:
        for node in ast.walk(self._tree):
            self._line = getattr(node, "lineno", self._line)
            made: list[str] = []
            match node:
                case ast.Attribute(attr=attr, ctx=ast.Store() | ast.Del()) if attr not in ASSIGNABLE:
                    made = [attr]
                case ast.ClassDef(body=body):
                    for statement in body:
                        self._line = statement.lineno
                        yield from map(self._fit, bound_in([statement]))
                case ast.Call(func=ast.Attribute(attr=attr), args=args) if attr in _NAMED_IN_TEXT:
                    match args[:1]:
                        case [ast.Constant(value=str(text))] if text.isidentifier() and not keyword.iskeyword(text):
                            made = [text]
                        case _:
                            self._no(f"`{attr}` with a name that is not written out")
            yield from map(self._fit, made)

    def _of_other_kinds(self) -> set[str]:
        """The attributes that are anywhere given a value which is no new instance of a class of the file."""
        others: set[str] = set()
        for node in ast.walk(self._tree):
            match node:
                case ast.Assign(targets=[ast.Attribute()], value=value) if makes(value, self._classes):
                    continue
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.comprehension)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                held = (n for target in targets for n in ast.walk(target))
                others.update(n.attr for n in held if isinstance(n, ast.Attribute) and is_bound(n))
            if isinstance(node, ast.ClassDef):
                others |= bound_in(node.body)
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                others.add(str(node.args[0].value))  # perhaps register_buffer("name", …)
        return others

    def _fit(self, attr: str) -> str:
        """The name of an attribute of the file's own, where it may have it."""
        if attr not in _OWN_DUNDERS and (attr.startswith("_") or attr in _NOT_OWN):
            self._no(f"an attribute of its own called `{attr}`")
        return attr

    def _binding(self, name: str, node: ast.AST) -> None:
        self._line = getattr(node, "lineno", self._line)
        if name in _OWN_DUNDERS and isinstance(node, (ast.FunctionDef, ast.Name)):
            return
        if name.startswith("__") or name in _FORBIDDEN_BUILTINS:
            self._no(f"`{name}` as a name of its own")
        if name in self._classes and not isinstance(node, ast.ClassDef):
            self._no(f"another meaning for the class `{name}`")
        if name in self._modules and not isinstance(node, (ast.Import, ast.ImportFrom)):
            self._no(f"another meaning for the import `{name}`")

    # ---------------------------------------------------------------------------------------------------- statements
    def _visit(self, node: ast.AST) -> None:
        self._line = getattr(node, "lineno", self._line)
        method = getattr(self, f"_on_{type(node).__name__.lower()}", None)
        if method is not None:
            method(node)
        elif isinstance(node, _PLAIN):
            self._visit_all(ast.iter_child_nodes(node))
        else:
            self._no(_word(node))

    def _visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self._visit(node)

    def _on_import(self, _: ast.Import) -> None:
        """At the top they are seen to by `_imports`."""
        if len(self._scopes) > 1:
            self._no("an import inside a function")

    _on_importfrom = _on_import

    def _on_classdef(self, node: ast.ClassDef) -> None:
        if node.decorator_list or node.keywords:
            self._no("a class with a decorator or keywords")
        for base in node.bases:
            own = isinstance(base, ast.Name) and base.id in self._classes
            if not own and self._path(base) not in BASES:
                self._no(f"the base class `{ast.unparse(base)}`; write torch.nn.Module")
        self._visit_all(getattr(node, "type_params", ()))
        methods = [s for s in node.body if isinstance(s, ast.FunctionDef)]
        outer = self._methods, self._self
        self._methods, self._self = {m.name for m in methods}, ""
        self._scopes.append(bound_in(node.body) - self._methods)
        for statement in node.body:
            self._line = statement.lineno
            if not isinstance(statement, _IN_CLASS):
                self._no(f"{_word(statement)} in a class, outside of its methods")
            if isinstance(statement, ast.FunctionDef):
                self._head(statement)
            else:
                self._visit(statement)
        self._scopes.pop()
        self._methods = set()
        for method in methods:
            arguments = [*method.args.posonlyargs, *method.args.args]
            self._self = arguments[0].arg if arguments and not rebinds(method, arguments[0].arg) else ""
            self._body(method)
        self._methods, self._self = outer

    def _on_functiondef(self, node: ast.FunctionDef) -> None:
        self._head(node)
        self._body(node)

    def _head(self, node: ast.FunctionDef) -> None:
        """What is run where a function is defined."""
        for decorator in node.decorator_list:
            self._line = decorator.lineno
            if not self._is_mode(decorator):
                self._no(f"the decorator `{ast.unparse(decorator)[:60]}`")
        self._visit_all(getattr(node, "type_params", ()))
        arguments = node.args
        self._visit_all(d for d in (*arguments.defaults, *arguments.kw_defaults) if d is not None)
        for annotation in (*(a.annotation for a in every(arguments)), node.returns):
            self._annotation(annotation)

    def _body(self, node: ast.FunctionDef) -> None:
        if node.name.startswith("inputs") and any(isinstance(n, ast.While) for n in ast.walk(node)):
            self._no("a `while` in its inputs")
        self._scopes.append(bound_in(node.body) | {a.arg for a in every(node.args)})
        outer, self._instances = self._instances, instances(node, self._classes)
        self._visit_all(node.body)
        self._instances = outer
        self._scopes.pop()

    def _is_mode(self, node: ast.expr) -> bool:
        """`torch.no_grad()` and its like, which may stand after `with` and `@`."""
        return isinstance(node, ast.Call) and not node.args and not node.keywords and self._path(node.func) in MODES

    def _annotation(self, node: ast.expr | None) -> None:
        if node is None:
            return
        self._annotating = True
        self._visit(node)
        self._annotating = False

    def _on_annassign(self, node: ast.AnnAssign) -> None:
        self._visit(node.target)
        self._annotation(node.annotation)
        if node.value is not None:
            self._visit(node.value)

    def _on_while(self, node: ast.While) -> None:
        self._visit_all(ast.iter_child_nodes(node))

    def _on_with(self, node: ast.With) -> None:
        for item in node.items:
            if item.optional_vars is not None or not self._is_mode(item.context_expr):
                self._no(f"`with {ast.unparse(item)[:60]}`")
        self._visit_all(node.body)

    def _on_expr(self, node: ast.Expr) -> None:
        if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):  # a docstring may say much
            self._visit(node.value)

    # --------------------------------------------------------------------------------------------------- expressions
    def _path(self, node: ast.expr) -> str:
        """`torch.nn.functional.pad` for however the file spells it; empty where it does not begin with an import."""
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._modules:
            return ""
        return ".".join([self._modules[node.id], *reversed(attributes)])

    def _on_name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id in self._modules:
            self._member(self._modules[node.id], node)
        elif isinstance(node.ctx, ast.Load):
            known = node.id in BUILTINS or any(node.id in scope for scope in self._scopes)
            if node.id in self._methods:
                self._no(f"the method `{node.id}` as a value")
            if node.id in self._classes and not (self._annotating or node is self._called):
                self._no(f"the class `{node.id}` as a value")
            if not known and not (self._annotating and node.id == "str"):
                self._no(f"the name `{node.id}`")

    def _on_attribute(self, node: ast.Attribute) -> None:
        path = self._path(node)
        if path:
            self._member(path, node)
            return
        match node.value:
            case ast.Call(func=ast.Name(id="super"), args=[], keywords=[]):
                if node.attr not in {"__init__", "forward"}:
                    self._no(f"`super().{node.attr}`")
                return
        self._visit(node.value)
        self._line = node.end_lineno or self._line
        usual = ATTRIBUTES if isinstance(node.ctx, ast.Load) else ASSIGNABLE
        own = node.attr in self._own and self._is_own(node.value)
        if node.attr.startswith("_") or not (own or node.attr in usual):
            self._no(f"the attribute `{node.attr}`")

    def _is_own(self, node: ast.expr) -> bool:
        """Whether a value is surely an instance of a class of the file."""
        match node:
            case ast.Name(id=name):
                return name in self._instances or (bool(self._self) and name == self._self)
            case ast.Attribute(value=value, attr=attr):
                return attr in self._parts and self._is_own(value)
        return False

    def _member(self, path: str, node: ast.expr) -> None:
        """A path that begins with a module: each step is in that module's table, and the end is no module."""
        module, rest = longest_module(path)
        if not rest:
            self._no(f"the module `{path}` as a value")
        first, *others = rest
        if first not in NAMES[module] or isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            self._no(f"`{module}.{first}`")
        if module in {"typing", "collections.abc"} and not self._annotating:
            self._no(f"`{module}.{first}` outside of an annotation")
        if any(attr.startswith("_") or attr not in ATTRIBUTES for attr in others):
            self._no(f"`{path}`")
        if module == "torch.ops.aten" and node is not self._called:
            self._no(f"`{path}` as a value")

    def _on_call(self, node: ast.Call) -> None:
        if any(k.arg is None for k in node.keywords):
            self._no("a call with `**`")
        if self._annotating:
            self._no("a call in an annotation")
        self._called = node.func
        self._visit(node.func)
        self._visit_all(node.args)
        self._visit_all(k.value for k in node.keywords)
        self._line = node.lineno
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if isinstance(node.func, ast.Name) and node.func.id in {"range", "pow"}:
            name = node.func.id  # Python's own; what else a file calls by a name does not say how much it makes
        if name == "pow" and isinstance(node.func, ast.Name) and any(too_high(a) for a in node.args[1:2]):
            self._no("a power that may be too large")
        made = elements(name, node)
        if made > ELEMENTS:
            self._no(f"`{name}` of {amount(made)} elements")

    def _on_binop(self, node: ast.BinOp) -> None:
        sides = (node.left, node.right)
        match node.op:
            case ast.Pow() | ast.LShift():
                if too_high(node.right):
                    self._no("a power that may be too large")
            case ast.Mult():
                many = max(number(s) for s in sides)
                if any(isinstance(s, (ast.List, ast.Tuple, ast.BinOp)) for s in sides) and many > ELEMENTS:
                    self._no(f"a list of {amount(many)} elements")
        if any(is_text(s) for s in sides):
            self._no("computing with text")
        self._visit_all(sides)

    def _on_constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, str) and (self._annotating or not _STRING.fullmatch(value) or "__" in value):
            self._no("text that holds more than plain words" if not self._annotating else "text as an annotation")
        if isinstance(value, bytes):
            self._no("bytes")
        if isinstance(value, int) and not -_LARGEST < value < _LARGEST:
            self._no("a number that no tensor can hold")


def too_high(power: ast.expr) -> bool:
    """Whether a power or a shift by this may give a number that takes long to compute."""
    parts = [n for n in ast.walk(power) if isinstance(n, (ast.Constant, ast.BinOp))]
    return any(isinstance(n, ast.BinOp) or number(n) > _POWER for n in parts)


def _word(node: ast.AST) -> str:
    kind = type(node).__name__
    return _WORDS.get(kind, f"`{kind.lower()}`")
