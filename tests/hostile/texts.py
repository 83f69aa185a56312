"""Program files that a stranger might send: each tries to do more than compute with tensors.

Most would leave the file CANARY behind. Each says which line a refusal has to name, and a word that it has to hold.
"""

from __future__ import annotations

import gzip
import os
import socket
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

CANARY = "canary"
PLAIN = """# A file from elsewhere.
#
# inplace-fuzz: 1
# torchscript-graph   direct   torch 2.13.0   agree

{top}


class M(torch.nn.Module):
    def forward(self, x):
        {body}
        return x


def inputs():
    return ({inputs},)
"""
BODY_LINE, TOP_LINE, INPUTS_LINE = 11, 6, 16  # in PLAIN, with a top of one line
_TOUCH = f"open('{CANARY}', 'w')"
_SYSTEM = f"system('touch {CANARY}')"


def text(*, top: str = "import torch", body: str = "x[0] = 7", inputs: str = "torch.tensor([1.0, 2.0, 3.0])") -> str:
    return PLAIN.format(top=top, body=body, inputs=inputs)


@dataclass(frozen=True)
class Hostile:
    source: str
    line: int
    word: str

    def at(self, line: int) -> Hostile:
        return replace(self, line=line)


def in_body(body: str, word: str) -> Hostile:
    return Hostile(text(body=body), BODY_LINE, word)


def in_inputs(inputs: str, word: str) -> Hostile:
    return Hostile(text(inputs=inputs), INPUTS_LINE, word)


def at_top(top: str, word: str, line: int = 1) -> Hostile:
    """`line` counts from the line below `import torch`."""
    return Hostile(text(top=f"import torch\n{top}"), TOP_LINE + line, word)


HOSTILE = {
    # ---- importing
    "import os": at_top("import os", "import os"),
    "import os as torch": Hostile(text(top="import os as torch"), TOP_LINE, "import os"),
    "import beside torch": Hostile(text(top="import torch, subprocess"), TOP_LINE, "subprocess"),
    "import in a function": in_body("import os", "import"),
    "from os": at_top("from os import system as relu", "system"),
    "from torch": at_top("from torch import load", "load"),
    "from torch, a module": at_top("from torch import hub", "hub"),
    "from torch, everything": at_top("from torch import *", "*"),
    "a module of torch": at_top("import torch.utils.cpp_extension", "cpp_extension"),
    "a module of torch's own tests": at_top("import torch.testing._internal.common_utils as nn", "_internal"),
    "relative import": at_top("from . import conftest", "import conftest"),
    "importlib": at_top("from importlib import import_module", "importlib"),
    "dunder import": in_body(f"__import__('os').{_SYSTEM}", "__import__"),
    # ---- Python's ways out
    "open": in_body(_TOUCH, "open"),
    "eval": in_body(f'eval("{_TOUCH}")', "eval"),
    "exec": in_inputs(f'exec("{_TOUCH}")', "exec"),
    "compile": in_body('compile("1", "x", "eval")', "compile"),
    "getattr": in_body(f"getattr(torch, 'os').{_SYSTEM}", "getattr"),
    "getattr as a value": in_body("y = getattr", "getattr"),
    "vars": in_body("vars(torch)['os']", "vars"),
    "globals": in_body("globals()['__builtins__']", "globals"),
    "builtins by name": in_body("__builtins__.open('x')", "__builtins__"),
    "breakpoint": in_body("breakpoint()", "breakpoint"),
    "exit": in_inputs("exit()", "exit"),
    "input as the builtin": in_body("input()", "input"),
    "a builtin shadowed": in_body("eval = 1", "eval"),
    "a builtin shadowed elsewhere": at_top(
        "\n\ndef f(eval):\n    return 1\n\n\ndef g(x):\n    return eval('1')", "eval", line=3
    ),
    "classes from an object": in_body("().__class__.__bases__[0].__subclasses__()", "__class__"),
    "globals of a function": in_body("x.clone.__globals__['os']", "__globals__"),
    "globals of forward": in_body("self.forward.__func__.__globals__", "__func__"),
    "the module of a class": in_body("torch.nn.Module.__module__", "Module"),
    "dunder in text": in_body("y = '__class__'", "text"),
    "format": in_body("'{0.__class__}'.format(x)", "text"),
    "format of a name": in_body("x.name.format(x)", "format"),
    "format by another name": in_body("f = ''.format_map", "format_map"),
    "f-string": in_body(f"y = f\"{{{_TOUCH}}}\"", "f-string"),
    "percent": in_body("y = 'a' % x", "text"),
    "bytes": in_body("y = b'abc'", "bytes"),
    "frame of a generator": in_body("y = (k for k in (1, 2)).gi_frame.f_back", "gi_frame"),
    "an attribute of its own called like a frame's": in_body("self.f_globals = 1", "f_globals"),
    "an attribute of its own called like a method": in_body("self.numpy = x.numpy()", "numpy"),
    "a buffer called like a method": in_body("self.register_buffer('tofile_', x); self.register_buffer('numpy', x)", "numpy"),
    "a buffer whose name is computed": in_body("self.register_buffer(x.name, x)", "register_buffer"),
    "lambda": in_body("y = (lambda: 1)()", "lambda"),
    "walrus": in_body("(y := x).add_(1)", ":="),
    "yield": in_body("yield x", "yield"),
    "await": Hostile(text().replace("def forward", "async def forward"), 10, "async"),
    "global": in_body("global torch", "global"),
    "try": Hostile(text(body="try:\n            x[0] = 7\n        except BaseException:\n            pass"), 11, "try"),
    "match": Hostile(text(body="match x:\n            case torch.Tensor(grad_fn=y):\n                pass"), 11, "match"),
    "with open": in_body("with open('x'): pass", "with"),
    "raise SystemExit": in_body("raise SystemExit", "SystemExit"),
    "call with a mapping": in_body("torch.add(**{'input': x, 'other': x})", "**"),
    "name that looks like another": in_body("y = x.\uff4eumpy()", "numpy"),
    "rebinding torch": in_body("torch = x", "torch"),
    "rebinding torch by a loop": in_body("for torch in [1]: pass", "torch"),
    "torch as a value": in_body("y = torch", "torch"),
    "torch in a list": in_body("[torch][0].os", "torch"),
    # ---- what is run by being defined
    "default argument": at_top(f"\n\ndef f(x={_TOUCH}):\n    return x", "open", line=3),
    "annotation": at_top(f"\n\ndef f(x: {_TOUCH}):\n    return x", "annotation", line=3),
    "annotation of a result": at_top(f"\n\ndef f(x) -> {_TOUCH}:\n    return x", "annotation", line=3),
    "annotation in text": at_top("\n\ndef f(x: 'torch.os'):\n    return x", "annotation", line=3),
    "annotation in text, inside": at_top("from typing import List\n\n\ndef f(x: List['torch.os']):\n    pass", "annotation", line=4),
    "annotated variable": at_top(f"y: {_TOUCH} = 1", "annotation"),
    "typing used as a value": at_top("from typing import List\ny = List['torch.os']", "List", line=2),
    "type comment": Hostile(
        text().replace("def forward(self, x):", "def forward(self, x):  # type: (torch.os.sep) -> Tensor"), 10, "# type:"
    ),
    "type comment in a string": in_body("'''# type: (torch.os.sep) -> Tensor'''", "# type:"),
    "decorator": at_top(f"\n\n@{_TOUCH}\ndef f(x):\n    return x", "decorator", line=3),
    "decorator of torch": at_top("\n\n@torch.compile\ndef f(x):\n    return x", "decorator", line=3),
    "class decorator": at_top("\n\n@print\nclass A(torch.nn.Module):\n    pass", "decorator", line=4),
    "metaclass": at_top("\n\nclass A(torch.nn.Module, metaclass=print):\n    pass", "keywords", line=3),
    "base class": at_top("\n\nclass A(torch.autograd.Function):\n    pass", "base class", line=3),
    "base class that is called": at_top(f"\n\nclass A({_TOUCH}):\n    pass", "base class", line=3),
    "statement in a class": at_top(f"\n\nclass A(torch.nn.Module):\n    {_TOUCH}", "open", line=4),
    "branch in a class": at_top("\n\nclass A(torch.nn.Module):\n    if True:\n        y = 1", "`if`", line=4),
    "dunder method": at_top("\n\nclass A(torch.nn.Module):\n    def __del__(self):\n        pass", "__del__", line=4),
    "attribute hook": at_top("\n\nclass A:\n    def __getattr__(self, k):\n        pass", "__getattr__", line=4),
    "torch function hook": at_top("\n\nclass A:\n    def __torch_function__(self):\n        pass", "__torch_function__", line=4),
    "pickling hook": at_top("\n\nclass A:\n    def __reduce__(self):\n        return print, (1,)", "__reduce__", line=4),
    "a method that torch calls": at_top("\n\nclass A(torch.nn.Module):\n    def apply(self, f):\n        pass", "apply", line=4),
    "statement at the top": at_top(_TOUCH, "open"),
    "branch at the top": at_top(f"if torch: {_TOUCH}", "`if`"),
    "a main block that is none": at_top(f"if __name__ != '__main__': {_TOUCH}", "`if`"),
    "a main block with an else": at_top(f"if __name__ == '__main__':\n    pass\nelse:\n    {_TOUCH}", "`if`"),
    "del at the top": at_top("del torch", "torch"),
    # ---- torch's ways out
    "torch.load": in_inputs("torch.load('x.pt')", "torch.load"),
    "torch.load by an alias": Hostile(
        text(top="import torch\nimport torch as t", inputs="t.load('x')"), INPUTS_LINE + 1, "torch.load"
    ),
    "one alias, two meanings": at_top("from torch import nn\nfrom torch import add as nn", "nn", line=2),
    "torch.save": in_body(f"torch.save(x, '{CANARY}')", "torch.save"),
    "torch.from_file": in_inputs("torch.from_file('/etc/passwd', size=8, dtype=torch.uint8)", "from_file"),
    "torch.ops.load_library": in_body("torch.ops.load_library('evil.so')", "load_library"),
    "an operator library": in_body("torch.ops.evil.run(x)", "torch.ops.evil"),
    "torch.classes": in_body("torch.classes.load_library('evil.so')", "torch.classes"),
    "torch.hub": in_body("torch.hub.load('a', 'b')", "torch.hub"),
    "torch.utils": in_body("torch.utils.data.get_worker_info()", "torch.utils"),
    "torch.jit.load": in_body("torch.jit.load('x.pt')", "torch.jit"),
    "torch.compile": in_body("torch.compile(x)", "torch.compile"),
    "torch.package": in_body("torch.package.PackageImporter('x')", "torch.package"),
    "torch.serialization": in_body("torch.serialization.os", "torch.serialization"),
    "torch.multiprocessing": in_body("torch.multiprocessing.spawn(x)", "torch.multiprocessing"),
    "torch.distributed": in_body("torch.distributed.init_process_group('gloo')", "torch.distributed"),
    "torch.os": in_body(f"torch.os.{_SYSTEM}", "torch.os"),
    "torch.sys": in_body("torch.sys.modules", "torch.sys"),
    "torch.builtins": in_body("torch.builtins.open('x')", "torch.builtins"),
    "torch._C": in_body("torch._C._jit_get_all_schemas()", "torch._C"),
    "torch.testing": in_body("torch.testing._internal", "torch.testing"),
    "torch.functional": in_body("torch.functional.sys", "torch.functional"),
    "torch.nn.modules": in_body("torch.nn.modules.module.torch", "torch.nn.modules"),
    "torch.nn.functional": in_body("torch.nn.functional.os", "torch.nn.functional"),
    "a module behind an operator": in_body("torch.ops.aten.add.default.py_kernels", "py_kernels"),
    "default dtype": in_body("torch.set_default_dtype(torch.float64)", "set_default_dtype"),
    "threads": in_body("torch.set_num_threads(4096)", "set_num_threads"),
    "numpy": in_body(f"x.numpy().tofile('{CANARY}')", "numpy"),
    "storage": in_body("x.untyped_storage()", "untyped_storage"),
    "storage from a file": in_body("torch.UntypedStorage.from_file('x')", "UntypedStorage"),
    "memory by address": in_body("x.data_ptr()", "data_ptr"),
    "shared memory": in_body("x.share_memory_()", "share_memory_"),
    "apply_": in_body("x.apply_(print)", "apply_"),
    "map_": in_body("x.map_(x, max)", "map_"),
    "hook": in_body("x.register_hook(print)", "register_hook"),
    "hook of a module": in_body("self.register_forward_hook(print)", "register_forward_hook"),
    "autograd graph": in_body("x.grad_fn.metadata", "grad_fn"),
    "state dict": in_body("self.load_state_dict({})", "load_state_dict"),
    "class of a tensor": in_body("x.as_subclass(torch.Tensor)", "as_subclass"),
    "modules by name": in_body("self.get_submodule('a.b')", "get_submodule"),
    "private attribute": in_body("self._buffers", "_buffers"),
    "private method of a tensor": in_body("x._make_subclass(x)", "_make_subclass"),
    "super, further": in_body("super().__getattribute__('a')", "super()"),
    # ---- by way of what tracers pass to `forward` in place of tensors: their attributes lead to `eval`
    "a tracer's stand-in": in_body(
        "self.fake_mode = 1; x.fake_mode.shape_env.evaluate_guards_expression('exec(bytes([49]))', [])", "fake_mode"
    ),
    "a tracer's stand-in, one step": in_body("self.fake_mode = 1; y = x.fake_mode", "fake_mode"),
    "a stand-in kept as an attribute": in_body("self.kept = x; self.fake_mode = 1; y = self.kept.fake_mode", "fake_mode"),
    "a stand-in as self": at_top(
        "\n\nclass A(torch.nn.Module):\n    def f(self):\n        self.fake_mode = 1\n\n    table = [f]", "`f` as a value",
        line=7,
    ),
    "a stand-in as self, by a default": at_top(
        "\n\nclass A(torch.nn.Module):\n    def f(self):\n        pass\n\n    def g(self, h=f):\n        pass",
        "`f` as a value", line=7,
    ),
    "a stand-in as self, by a method of the class": in_body("M.clone(x)", "`M` as a value"),
    "a stand-in as self, by another name of the class": in_body("y = M", "`M` as a value"),
    "a stand-in as another self": in_body("\n        def f(self):\n            return self.fake_mode\n        self.fake_mode = f(x)", "fake_mode").at(13),
    "a stand-in as a rebound self": in_body("self.fake_mode = 1; self = x; y = self.fake_mode", "fake_mode"),
    "a class that is none": at_top(
        "\n\nclass A(torch.nn.Module):\n    pass\n\n\ndef f(x):\n    A = x\n    return A()", "the class `A`", line=8
    ),
    "an operator as a value": in_body("self.py_impl = 1; y = torch.ops.aten.add.default", "as a value"),
    "a field on a value of another kind": at_top(
        "from typing import NamedTuple\n\n\nclass P(NamedTuple):\n    fake_mode: int\n\n\ndef f(x):\n    return x.fake_mode",
        "fake_mode", line=9,
    ),
    "an instance that is none": at_top(
        "\n\nclass P(torch.nn.Module):\n    fake_mode: int\n\n\ndef f(x):\n    p = P()\n    p, q = x\n    return p.fake_mode",
        "fake_mode", line=10,
    ),
    "a call in an annotation": at_top("\n\ndef f(x: torch.zeros(2)):\n    return x", "annotation", line=3),
    "parts that are unpacked": at_top(
        "from typing import NamedTuple\n\n\nclass P(NamedTuple):\n    fake_mode: int\n\n\nclass A(torch.nn.Module):\n"
        "    def forward(self, x):\n        self.a, self.b = P(x)\n        return self.a.fake_mode",
        "fake_mode", line=11,
    ),
    # ---- too much
    "huge tensor": in_inputs("torch.zeros(100000, 100000)", "10000000000"),
    "huge tensor by a list": in_inputs("torch.empty([65536, 65536])", "elements"),
    "huge tensor by a name": in_inputs("torch.full(size=(1 << 3, 1, 99999999), fill_value=0)", "elements"),
    "huge range": in_inputs("torch.arange(0, 99999999999)", "elements"),
    "huge repeat": in_body("x = x.repeat(99999, 99999)", "elements"),
    "huge expand": in_body("x = x.expand(99999999, 3).clone()", "elements"),
    "huge list": in_inputs("torch.tensor([0] * 999999999)", "elements"),
    "huge power": in_body("y = 9 ** 9999999", "power"),
    "huge power by a function": in_body("y = pow(9, 99999999)", "power"),
    "huge shift in inputs": in_inputs("2 << 4000000", "power"),
    "a loop without an end": in_inputs("[0 for k in range(99999999999)]", "99999999999"),
    "tower of powers": in_body("y = 9 ** 9 ** 9", "power"),
    "huge shift": in_body("y = 1 << 99999999999", "power"),
    "huge number": in_body(f"y = {'9' * 400}", "number"),
    "inputs without an end": Hostile(
        text().replace("def inputs():\n", "def inputs():\n    while True:\n        pass\n"), 15, "while"
    ),
    "deep list": in_body(f"y = {'[' * 150}{']' * 150}", "nested"),
    "deep parentheses": in_body(f"y = {'(' * 5000}{')' * 5000}", "nested"),
    "deep minus": in_body(f"y = {'-' * 5000}1", "nested"),
    "long chain": in_body(f"y = x{'.t()' * 5000}", "nested"),
    "long import": Hostile(text(top=f"import torch{'.a' * 100000}"), TOP_LINE, "longer"),
    "long sum": in_body(f"y = 1{' + 1' * 5000}", "nested"),
    "long f-string": in_body(f"y = f'{'{x}' * 5000}'", "f-string"),
    "elif without an end": Hostile(text(body="if x: pass\n" + "        elif x: pass\n" * 200), 107, "nested"),
    # ---- text that is not what it looks like
    "right-to-left": in_body("y = 1  # \u202e)'x'(nepo", "U+202E"),
    "zero width": in_body("y = 1  # \u200b", "U+200B"),
    "form feed": in_body("y = 1\f", "U+000C"),
    "line separator": in_body("# \u2028        import os", "U+2028"),
    "next line": in_body("# \x85        import os", "U+0085"),
    "escape sequence": Hostile("# \x1b]0;title\x07\n" + text(), 1, "U+001B"),
    "encoding": Hostile("# -*- coding: utf-7 -*-\n" + text(), 1, "utf-7"),
    "encoding in line 2": Hostile("# A file.\n# vim: set fileencoding=raw_unicode_escape :\n" + text(), 2, "raw_unicode"),
}  # fmt: skip


# -------------------------------------------------------------------------------------- files that are hostile as files
def _write(data: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(data) and None


def _link(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def _outside(path: Path) -> None:
    other = path.parent.parent / "other.py"
    other.write_text(text())
    path.symlink_to(other)


def _socket(path: Path) -> None:
    with closing(socket.socket(socket.AF_UNIX)) as made:
        made.bind(path.name if path.parent == Path.cwd() else os.path.relpath(path))


FILES: dict[str, tuple[Callable[[Path], None], str]] = {
    # what it is: (how it is made, a word that the refusal has to hold)
    "binary": (_write(b"\x7fELF\x02\x01\x01\xff\xfe" * 50), "UTF-8"),
    "NUL": (_write(text().encode() + b"\0"), "NUL"),
    "UTF-16": (_write(text().encode("utf-16")), "NUL"),
    "latin-1": (_write(text().encode() + b"# \xe9\n"), "UTF-8"),
    "empty": (_write(b""), "has no"),
    "too long": (_write(text().encode() + b"# " + b"x" * 300_000), "characters"),
    "far too long": (_write(b"#" * (2 << 20)), "KiB"),
    "link to the outside": (_outside, "link"),
    "link to a device": (_link("/dev/zero"), "link"),
    "link to memory": (_link("/proc/self/environ"), "link"),
    "link to itself": (_link("file.py"), "file.py"),
    "link to nothing": (_link("nothing.py"), "file.py"),
    "pipe": (os.mkfifo, "ordinary"),
    "socket": (_socket, "ordinary"),
    "link to a directory": (_link("."), "directory"),
    "UTF-32": (_write(text().encode("utf-32")), "NUL"),
    "half a character": (_write(text().encode() + b"# \xe2\x82\n"), "UTF-8"),
    "surrogates": (_write(text().encode() + b"# \xed\xa0\x80\n"), "UTF-8"),
    "compressed": (_write(gzip.compress(text().encode())), "text"),
    "directory": (lambda path: path.mkdir(), "directory"),
}


_ROW = "torch 2.13.0   agree"
ODD = {
    # what no `render` writes: each is read or refused, and breaks neither the reader nor what is sent to workers
    "a number of inputs": text() + f"\n\ndef inputs_{'1' * 5000}():\n    return ()\n",
    "digits of another script": text() + "\n\ndef inputs_\u0663():\n    return ()\n",
    "a version of digits": text().replace(_ROW, f"torch {'9' * 5000}   agree"),
    "a range of versions of digits": text().replace(_ROW, f"torch >={'9' * 5000}   agree"),
    "many versions": text().replace(_ROW, f"torch {'>=0.26,' * 2000}   agree"),
    "an ellipsis": text(inputs="..."),
    "an ellipsis inside": text(inputs="[{'a': (1, ...)}]"),
    "bytes": text(inputs="b'abc'"),
    "a key that is a tensor": text(inputs="{torch.tensor([1.0]): 1}"),
    "a key that is a tuple": text(inputs="{(1, 2): torch.tensor([1.0])}"),
    "a key that is complex": text(inputs="{1j: torch.tensor([1.0])}"),
    "keys that are unpacked": text(inputs="{**{}}"),
    "no number as an element": text(inputs='torch.tensor([float("nan")], dtype=torch.int64)'),
    "a part of nothing": text(inputs="torch.zeros([0, 0.5])"),
    "less than nothing": text(inputs="torch.zeros([0, -1])"),
    "beyond its memory": text(inputs="torch.tensor([1.0]).as_strided([2], [1], 999999)"),
}
