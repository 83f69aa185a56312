"""What a worker's environment holds: an allowlist, never the parent's secrets.

Programs run as the user, so the environment is the cheapest thing to leak: tokens, proxies with passwords, cloud
credentials. Only the names below are passed on; every directory that a library likes to write into points into the
session's own temporary directory; and every thread pool is told to be one thread wide, because a warm process must be
single-threaded when it forks, and because two workers on two cores should not be eight threads.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from inplace_fuzz.execute.processes import MARKER

_PASSED = frozenset({
    "PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CC", "CXX", "CUDA_HOME", "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "COVERAGE_PROCESS_START",
})  # fmt: skip
_ONE_THREAD = (
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "TVM_NUM_THREADS",
    "TORCHINDUCTOR_COMPILE_THREADS", "XNNPACK_NUM_THREADS",
)  # fmt: skip
_PACKAGE_ROOT = Path(__file__).resolve().parents[2]


def worker_environment(session: str, directory: str, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment of a worker process. `extra` comes last and may override anything but the marker."""
    env = {name: value for name, value in os.environ.items() if name in _PASSED or name.startswith("LC_")}
    env.update(dict.fromkeys(_ONE_THREAD, "1"))
    # The package itself and what the caller can import beside it (third-party backends), for interpreters of other
    # environments too; never the caller's site-packages, which belong to another Python.
    paths = [str(_PACKAGE_ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    env["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(p for p in paths if p))
    env["PYTHONHASHSEED"] = "0"
    env["PYTHONNOUSERSITE"] = "1"
    env["HOME"] = env["TMPDIR"] = directory
    env["XDG_CACHE_HOME"] = f"{directory}/cache"
    env["TORCHINDUCTOR_CACHE_DIR"] = f"{directory}/inductor"
    env["TORCH_HOME"] = f"{directory}/torch"
    env.update(extra or {})
    env[MARKER] = session
    return env
