"""What a worker's environment holds: an allowlist, never the parent's secrets.

Programs run as the user, so the environment is the cheapest thing to leak: tokens, proxies with passwords, cloud
credentials. Only the names below are passed on; every directory that a library likes to write into points into the
session's own temporary directory; and every thread pool is told to be one thread wide, because a warm process must be
single-threaded when it forks, and because two workers on two cores should not be eight threads.

The interpreter may be another environment's, with a torch of its own, so it must find this package and nothing else of
ours: a directory that holds a link to the package is put on its path, never the site-packages that we live in.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from inplace_fuzz.backends import commandline
from inplace_fuzz.execute.processes import MARKER

_PASSED = frozenset({
    "PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CC", "CXX", "CUDA_HOME", "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "COVERAGE_PROCESS_START",
    commandline.VARIABLE,
})  # fmt: skip
_ONE_THREAD = (
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "TVM_NUM_THREADS",
    "TORCHINDUCTOR_COMPILE_THREADS", "XNNPACK_NUM_THREADS",
)  # fmt: skip
_PACKAGE = Path(__file__).resolve().parents[1]


def worker_environment(session: str, directory: str, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment of a worker process. `extra` comes last and may override anything but the marker."""
    env = {name: value for name, value in os.environ.items() if name in _PASSED or name.startswith("LC_")}
    env.update(dict.fromkeys(_ONE_THREAD, "1"))
    extra = dict(extra or {})
    paths = [_library(Path(directory)), extra.pop("PYTHONPATH", ""), *_local_paths()]
    env["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(p for p in paths if p))
    env["PYTHONHASHSEED"] = "0"
    env["PYTHONNOUSERSITE"] = "1"
    env["HOME"] = env["TMPDIR"] = directory
    env["XDG_CACHE_HOME"] = f"{directory}/cache"
    env["TORCHINDUCTOR_CACHE_DIR"] = f"{directory}/inductor"
    env["TORCH_HOME"] = f"{directory}/torch"
    env.update(extra)
    env[MARKER] = session
    return env


def _library(directory: Path) -> str:
    """A directory from which exactly this package can be imported."""
    library = directory / "lib"
    library.mkdir()
    (library / _PACKAGE.name).symlink_to(_PACKAGE, target_is_directory=True)
    return str(library)


def _local_paths() -> list[str]:
    """Where the caller imports from outside every installation: a checkout, a test directory, the current one.

    Backends named `module:ATTRIBUTE` live there.
    """
    installed = [Path(p).resolve() for p in (sys.prefix, sys.base_prefix, sys.exec_prefix)]
    found = []
    for entry in sys.path:
        path = Path(entry or ".").resolve()
        inside = any(path.is_relative_to(prefix) for prefix in installed) or path.name.endswith("-packages")
        if path.is_dir() and not inside:
            found.append(str(path))
    return found
