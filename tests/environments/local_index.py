"""A package index on disk, so that environments can be made without a network.

It holds two releases of a small compiler, `planted-compiler`, of which the second is wrong, and a `torch` that is the
one that runs these tests: a wheel with nothing but a path to it and to what it needs. An environment made from these
is a real one, with torch and the compiler alone.
"""

from __future__ import annotations

import os
import zipfile
from importlib.metadata import distribution, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

TORCH = Version(version("torch")).public
PLANTED = "planted_adapter:BACKEND"
# The adapter of the planted compiler, as another package's would be: beside nothing of ours.
ADAPTER = """
from inplace_fuzz.core import OUTPUT_CHANNELS, Compiled, Lane, Requirements, installed_version

REQUIREMENTS = Requirements(
    "planted-compiler", ("planted-runtime=={version}",), when=(("<1.1", "planted-extra"), (">=1.2,<1.3", "planted-extra==1"))
)


class Planted:
    name = "planted"
    channels = OUTPUT_CHANNELS
    lanes = (Lane.DIRECT,)
    refusals = ()
    form = "module"
    per_fork = 8

    def version(self):
        return installed_version("planted-compiler", "planted_adapter:BACKEND")

    def compile(self, module, example, enter):
        enter("build")
        import planted_compiler

        return Compiled(planted_compiler.compile(module))


BACKEND = Planted()
"""
REQUIRES = "from inplace_fuzz.core import Requirements\n\nREQUIREMENTS = Requirements({})\nBACKEND = None\n"
RIGHT = "def compile(module):\n    return module\n"
WRONG = """import torch
from torch.utils._pytree import tree_map


def wrong(leaf):
    if not isinstance(leaf, torch.Tensor):
        return leaf
    return ~leaf if leaf.dtype is torch.bool else leaf + 1


def compile(module):
    return lambda *args: tree_map(wrong, module(*args))
"""


def wheel(directory: Path, name: str, release: str, files: dict[str, str], *needs: str) -> None:
    """Writes a wheel that any pip takes."""
    stem = f"{name.replace('-', '_')}-{release}"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {release}\n"
    metadata += "".join(f"Requires-Dist: {need}\n" for need in needs)
    info = {"METADATA": metadata, "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    files = files | {f"{stem}.dist-info/{k}": v for k, v in info.items()}
    record = "".join(f"{path},,\n" for path in files) + f"{stem}.dist-info/RECORD,,\n"
    with zipfile.ZipFile(directory / f"{stem}-py3-none-any.whl", "w") as archive:
        for path, text in {**files, f"{stem}.dist-info/RECORD": record}.items():
            archive.writestr(path, text)


def torch_alone(directory: Path) -> Path:
    """A directory from which this torch and what it requires can be imported, and nothing else."""
    directory.mkdir()
    seen: set[str] = set()
    waiting = ["torch"]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            found = distribution(name)
        except ImportError:
            continue  # for another platform
        for path in found.files or ():
            top = path.parts[0]
            source = Path(str(found.locate_file(top)))
            if top.endswith((".dist-info", "..")):
                continue
            if not (directory / top).exists() and source.exists():
                (directory / top).symlink_to(source)
        for text in found.requires or ():
            need = Requirement(text)
            if need.marker is None or need.marker.evaluate({"extra": ""}):
                waiting.append(need.name)
    return directory


def build(directory: Path) -> dict[str, str]:
    """Makes the index, and returns the environment variables that make pip use it alone."""
    wheels = directory / "wheels"
    wheels.mkdir()
    path = torch_alone(directory / "torch_alone")
    wheel(wheels, "torch", f"{TORCH}+cpu", {"torch_alone.pth": f"{path}\n"})
    for release, text in (("1.0", RIGHT), ("1.1", RIGHT), ("1.2", WRONG), ("1.3", WRONG)):
        wheel(wheels, "planted-compiler", release, {"planted_compiler.py": text}, f"torch>={TORCH}")
        wheel(wheels, "planted-runtime", release, {"planted_runtime.py": ""})
    wheel(wheels, "planted-compiler", "2.0", {"planted_compiler.py": RIGHT}, "torch<2")
    wheel(wheels, "planted-runtime", "2.0", {"planted_runtime.py": ""})
    # What wants another torch, and what takes whichever torch its index has.
    wheel(wheels, "torch", "2.9.9", {"torch_alone.pth": f"{path}\n"})
    wheel(wheels, "planted-picky", "1", {"planted_picky.py": ""}, "torch<2.10,>=2.9")
    (directory / "picky_adapter.py").write_text(REQUIRES.format('"planted-picky"'))
    (directory / "cuda_adapter.py").write_text(REQUIRES.format('"planted-picky", torch="<2.10", cuda=True'))
    for release in ("1", "2"):
        wheel(wheels, "planted-extra", release, {"planted_extra.py": ""})
    (directory / "planted_adapter.py").write_text(ADAPTER)
    return {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "PIP_CONFIG_FILE": os.devnull,
        "INPLACE_FUZZ_CACHE": str(directory / "cache"),
        "INPLACE_FUZZ_INSTALLER": "pip",
    }
