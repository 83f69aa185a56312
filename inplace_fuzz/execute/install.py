"""Makes and removes environments: a virtual environment, torch by itself, the backend, and a record of what came.

    1. the release is looked up, so that a name that cannot be had costs nothing;
    2. torch goes first and by itself, as its CPU build where there is one: asked for by another package's range, an
       installer takes the newest torch, which on Linux is a CUDA build of several GB. Where another environment has the
   release, its files are linked, which takes a second and no room;
    3. the backend follows, with that torch held fixed. Where the two cannot be had together, the installer's own words
       say which torch would do, and that one is taken;
    4. what was installed is written down, and the directory gets its name.

Everything happens in a directory with a temporary name and a lock, which ends with this process even by SIGKILL: a
directory whose lock can be taken is nobody's, and is cleared away by `doctor`, or by whoever makes the same one next.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from inplace_fuzz.backends import requirements
from inplace_fuzz.core.backend import Requirements
from inplace_fuzz.execute.environments import (
    RECORD,
    Environment,
    EnvironmentsError,
    environments_directory,
    find,
    here,
    installed,
    same_version,
)

TORCH_INDEX = "INPLACE_FUZZ_TORCH_INDEX"  # a further index for CPU builds of torch
TORCH_RANGE = ">=2.9,<2.15"  # as in pyproject.toml: what our own worker-side code is tested with
_MISSING = re.compile(r"No matching distribution|[Nn]o version of|Request failed|not found in the package registry")
_PARTIAL = ".partial"
_FREEZE = (
    "import importlib.metadata as m, json; "
    "print(json.dumps(sorted({f'{d.name}=={d.version}' for d in m.distributions()}, key=str.lower)))"
)
Say = Callable[[str], None]


class _Failed(Exception):
    """An installer ended with an error; `output` is all that it said."""

    def __init__(self, output: str) -> None:
        super().__init__(said(output))
        self.output = output


def said(output: str) -> str:
    """What an installer's output comes to, in one line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line[6:].strip() for line in lines if line.lower().startswith(("error:", "cause:"))]
    causes = [
        line for line in errors if line.startswith(("No matching", "Cannot install", "Could not install", "Because"))
    ]
    if errors == ["Exception:"]:
        errors = []  # pip's own traceback, whose last line says what it was
    return ((causes[:1] or errors[-1:] or lines[-1:] or ["it said nothing"])[0])[:300]


# -------------------------------------------------------------------------------------------------------- the registry
def releases(distribution: str) -> list[str]:
    """The releases that can be had here as a wheel for this Python, oldest first. Raises EnvironmentsError."""
    command = [sys.executable, "-m", "pip", "index", "versions", distribution, "--only-binary", ":all:"]
    try:
        output = _run([*command, "--disable-pip-version-check"], "ask for the versions")
    except _Failed as failed:
        raise EnvironmentsError(f"{distribution} cannot be had: pip says {failed!s}") from None
    match = re.search(r"^Available versions: (.*)$", output, re.MULTILINE)
    found = []
    for text in match[1].split(",") if match else re.findall(r"\(([^)]+)\)", output)[:1]:
        with contextlib.suppress(InvalidVersion):
            found.append(Version(text.strip()))
    public = sorted({Version(v.public) for v in found if not v.is_prerelease})
    return [str(v) for v in public]


# -------------------------------------------------------------------------------------------------------------- making
def create(name: str, version: str = "", *, torch: str = "", say: Say = lambda _text: None) -> Environment:
    """Makes the environment NAME@VERSION, of the newest release where none is given; one that is there is returned.

    `say` hears of each step. Raises EnvironmentsError, and leaves nothing behind then.
    """
    needs = requirements(name)
    if needs is None:
        raise EnvironmentsError(f"the adapter of {name} has no REQUIREMENTS; add them beside it (docs/backends.md)")
    if not version:
        version = releases(needs.distribution)[-1]
    there = find(f"{name}@{version}")
    if there is not None:
        if torch and not same_version(torch, there.torch):
            raise EnvironmentsError(
                f"{needs.distribution} {version} is there already in {there.name} with torch {there.torch}; "
                f"`inplace-fuzz env remove {there.name}` first"
            )
        say(f"{there.name} is there already: {there.path}\n")
        return there
    started = time.monotonic()
    final = environments_directory() / f"{name}@{version}".replace(":", ".")  # no virtual environment has a colon
    with _partial(final) as directory:
        maker = _Maker(name, version, needs, directory, say)
        maker.make(torch)
        environment = maker.record(final, started)
        _move(directory, final)
    return environment


class _Maker:
    """One environment in the making."""

    def __init__(self, name: str, version: str, needs: Requirements, directory: Path, say: Say) -> None:
        self.name, self.version, self.needs = name, version, needs
        self.directory = directory
        self.say = say
        self.python = str(directory / "bin" / "python")
        self.uv = shutil.which("uv") if os.environ.get("INPLACE_FUZZ_INSTALLER") != "pip" else None
        self.torch = ""

    def make(self, torch: str) -> None:
        with self._step(f"virtual environment with Python {_python()}"):
            self._make_venv()
        if self.needs.distribution == "torch":
            self._install_torch(self.version)
            self._install_rest([])
            return
        if self.needs.cuda:
            # The build that the index gives is the one that is wanted, and its own requirements choose the release.
            self._install_rest(
                [f"torch{'==' + torch if torch else self.needs.torch}"], told="with a CUDA build of torch"
            )
            return
        self._install_torch(torch or self._preferred_torch())
        try:
            self._install_rest([])
        except EnvironmentsError as error:
            other = "" if torch else _other_torch(error, self.needs.torch)
            if not other or same_version(other, self.torch):
                raise
            self.say(f"      {self.needs.distribution} {self.version} wants another torch\n")
            self._install_torch(other)
            self._install_rest([])

    def _preferred_torch(self) -> str:
        """The torch that we run ourselves, where the backend takes it: programs are drawn on that one."""
        allowed = SpecifierSet(",".join(s for s in (self.needs.torch, TORCH_RANGE) if s))
        own = here("torch")
        if own and allowed.contains(Version(own).public):
            return Version(own).public
        fitting = [v for v in releases("torch") if allowed.contains(v)]
        if not fitting:
            raise EnvironmentsError(f"{self.name} wants torch {allowed}, and the index has none such")
        return fitting[-1]

    def _make_venv(self) -> None:
        try:
            if self.uv:
                _run([self.uv, "venv", "-q", "--allow-existing", "--python", sys.executable, str(self.directory)], "")
            else:
                bare = ["--without-pip"] if _own_pip() else []
                _run([sys.executable, "-m", "venv", *bare, str(self.directory)], "make a virtual environment")
        except _Failed as failed:
            raise EnvironmentsError(f"no virtual environment could be made: {failed!s}") from None

    def _install_torch(self, version: str) -> None:
        index = os.environ.get(TORCH_INDEX)
        cpu = [*(["--extra-index-url", index] if index else []), f"torch=={version}{'' if '+' in version else '+cpu'}"]
        ways = [cpu, *([["--torch-backend", "cpu", f"torch=={version}"]] if self.uv else []), [f"torch=={version}"]]
        with self._step(f"torch {version}") as notes:
            lender = self._link_torch(version)
            if lender:
                notes.append(f"linked from {lender}")
                ways = []
            for number, way in enumerate(ways):
                try:
                    self._attempt(way)
                    break
                except EnvironmentsError as error:
                    if number == len(ways) - 1 or not _MISSING.search(str(error)):
                        raise
                    if number == len(ways) - 2:
                        notes.append("the index has no CPU build of it, so the one that it has")
        self.torch = self._packages_of("torch")

    def _link_torch(self, version: str) -> str:
        """Links a CPU build of torch, with what it requires, from another environment. Returns its name, or nothing."""
        for lender in installed():
            if same_version(lender.torch, version) and lender.torch.endswith("+cpu") and lender.python == _python():
                source, target = (next(p.glob("lib/python*/site-packages")) for p in (lender.path, self.directory))
                try:
                    for file in _files_of("torch", source):
                        (target / file).parent.mkdir(parents=True, exist_ok=True)
                        os.link(source / file, target / file)
                except OSError:
                    shutil.rmtree(target)  # another file system, or it is just being removed
                    target.mkdir()
                    continue
                return lender.name
        return ""

    def _install_rest(self, more: Sequence[str], told: str = "") -> None:
        main = f"{self.needs.distribution}=={self.version}"
        special = [other for span, other in self.needs.when if SpecifierSet(span).contains(self.version)]
        others = [o.replace("{version}", self.version) for o in (*self.needs.others, *special)]
        wanted = [*([] if self.needs.distribution == "torch" else [main]), *others, *more]
        if not wanted:
            return
        constraint = self.directory / "constraints.txt"
        constraint.write_text(f"torch=={self.torch}\n" if self.torch else "")
        with self._step(f"{' '.join(wanted)} {told}".rstrip()):
            self._attempt(["-c", str(constraint), *wanted])
        self.torch = self._packages_of("torch")
        constraint.unlink()

    def _attempt(self, arguments: Sequence[str]) -> None:
        pip = [sys.executable, "-m", "pip", "--python", self.python] if _own_pip() else [self.python, "-m", "pip"]
        command = [*pip, "install", "--disable-pip-version-check", "--no-input"]
        if self.uv:
            command = [self.uv, "pip", "install", "--python", self.python]
        try:
            _run([*command, *arguments], "install")
        except _Failed as failed:
            wanted = " ".join(a for a in arguments if "==" in a)
            error = EnvironmentsError(f"{wanted} cannot be had: {'uv' if self.uv else 'pip'} says {failed!s}")
            error.__cause__ = failed
            raise error from failed

    def _packages_of(self, distribution: str) -> str:
        found = [p.partition("==")[2] for p in freeze(self.python) if p.lower().startswith(f"{distribution}==")]
        return found[0] if found else ""

    @contextlib.contextmanager
    def _step(self, text: str) -> Iterator[list[str]]:
        """A line per step: what it is, then how long it took."""
        started = time.monotonic()
        notes: list[str] = []
        self.say(f"    {text} … ")
        try:
            yield notes
        except BaseException:
            self.say("no\n")
            raise
        self.say(f"{time.monotonic() - started:.1f} s{''.join(f' ({n})' for n in notes)}\n")

    def record(self, final: Path, started: float) -> Environment:
        """Writes the record, the last file of a whole environment."""
        packages = tuple(freeze(self.python))
        environment = Environment(
            path=final,
            backend=self.name,
            distribution=self.needs.distribution,
            version=self.version,
            torch=self.torch,
            python=_python(),
            installer="uv" if self.uv else "pip",
            created=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            seconds=round(time.monotonic() - started, 1),
            bytes=size(self.directory),
            packages=packages,
        )
        (self.directory / RECORD).write_text(json.dumps(environment.to_json(), indent=1) + "\n", encoding="utf-8")
        return environment


def _other_torch(error: BaseException, allowed: str) -> str:
    """The newest torch that suits what an installer said of a conflict, `depends on torch<2.13 and >=2.12.0`."""
    output = error.__cause__.output if isinstance(error.__cause__, _Failed) else ""
    for text in re.findall(r"depends on torch\s*([<>=!~][^;\n]*)", output):
        try:
            specifier = SpecifierSet(",".join(s for s in (text.replace(" and ", ","), allowed, TORCH_RANGE) if s))
        except InvalidSpecifier:
            continue
        fitting = [v for v in releases("torch") if specifier.contains(v)]
        if fitting:
            return fitting[-1]
    return ""


def _python() -> str:
    return sys.version.partition(" ")[0]


def _files_of(distribution: str, directory: Path) -> Iterator[Path]:
    """The files of a distribution in a site-packages directory and of all that it requires, scripts apart."""
    found = {canonicalize_name(d.name): d for d in importlib.metadata.distributions(path=[str(directory)])}
    waiting, seen = [canonicalize_name(distribution)], set()
    while waiting:
        name = waiting.pop()
        if name in seen or name not in found:
            continue
        seen.add(name)
        yield from (Path(f) for f in found[name].files or () if ".." not in f.parts)
        needs = [Requirement(text) for text in found[name].requires or ()]
        waiting += [canonicalize_name(n.name) for n in needs if not n.marker or n.marker.evaluate({"extra": ""})]


def freeze(python: str) -> list[str]:
    """`name==version` of everything that an interpreter's environment holds."""
    try:
        packages: list[str] = json.loads(_run([python, "-I", "-c", _FREEZE], "list what is installed"))
    except (_Failed, ValueError) as error:
        raise EnvironmentsError(f"{python} cannot say what is installed: {error}") from None
    return packages


def size(directory: Path) -> int:
    total = 0
    for root, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(root, name)).st_size
    return total


def _own_pip() -> bool:
    """Whether we have a pip, which then serves environments too: giving each one of its own costs seconds."""
    return importlib.util.find_spec("pip") is not None


def _run(command: Sequence[str], what: str) -> str:
    """The output of a command. Raises _Failed with it when it fails; ends the command when we are interrupted."""
    environment = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}}
    try:
        # A group of its own: what an installer started must be gone before the directory it writes into is removed.
        process = subprocess.Popen(  # noqa: S603 - pip, uv or our own interpreter
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            process_group=0,
        )
    except OSError as error:
        raise _Failed(f"{command[0]} cannot be started to {what}: {error.strerror}") from None
    with process:
        try:
            output = process.communicate()[0].decode(errors="replace")
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode:
        raise _Failed(output)
    return output


# ----------------------------------------------------------------------------------------- what is half-made, or goes
@contextlib.contextmanager
def _partial(final: Path) -> Iterator[Path]:
    """A directory to make an environment in, which is removed unless it was moved away."""
    directory = final.with_name(f".{final.name}{_PARTIAL}")
    with contextlib.ExitStack() as last, contextlib.ExitStack() as ends:
        try:
            directory.parent.mkdir(parents=True, exist_ok=True)
            if directory.exists() and not _take_away(directory):
                raise EnvironmentsError(f"{final.name} is being made by another process; wait for it to end")
            # Before it is made: an interrupt may come between any two lines.
            ends.callback(shutil.rmtree, directory, ignore_errors=True)
            directory.mkdir(mode=0o700)
            lock = os.open(directory / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            last.callback(os.close, lock)  # held until the directory is gone
        except FileExistsError:
            ends.pop_all()
            raise EnvironmentsError(f"{final.name} is being made by another process; wait for it to end") from None
        except OSError as error:
            raise EnvironmentsError(
                f"{directory.parent} cannot be written: {error.strerror}; name another directory in INPLACE_FUZZ_CACHE"
            ) from None
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield directory


def _take_away(directory: Path) -> bool:
    """Removes a directory that nobody is making any more. False where its maker lives."""
    try:
        lock = os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(directory, ignore_errors=True)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return not directory.exists()


def _move(directory: Path, final: Path) -> None:
    """Gives an environment its name. Scripts in it name their interpreter by its whole path, so they are told."""
    before, after = str(directory).encode(), str(final).encode()
    for script in (directory / "bin").iterdir():
        if script.is_file() and not script.is_symlink():
            head, newline, rest = script.read_bytes().partition(b"\n")
            if head.startswith(b"#!") and before in head:
                script.write_bytes(head.replace(before, after) + newline + rest)
    (directory / "lock").unlink(missing_ok=True)
    try:
        os.rename(directory, final)
    except OSError as error:
        raise EnvironmentsError(
            f"{final} cannot be written: {error.strerror}; `inplace-fuzz env doctor` says why"
        ) from None


def partials() -> list[tuple[Path, bool]]:
    """Directories of environments that are being made, or were, and whether their makers live."""
    found = []
    for path in sorted(environments_directory().glob(f".*{_PARTIAL}")):
        try:
            lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            continue  # its maker has just moved or removed it
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found.append((path, False))
        except BlockingIOError:
            found.append((path, True))
        finally:
            os.close(lock)
    return found


def remove(path: Path) -> None:
    """Removes an environment. It loses its name first, so that one half removed is never taken for a whole one."""
    doomed = path.with_name(f".{path.name.lstrip('.').removesuffix(_PARTIAL)}{_PARTIAL}")
    try:
        if path != doomed:
            if doomed.exists() and not _take_away(doomed):
                raise EnvironmentsError(f"{path.name} is being made by another process; wait for it to end")
            os.rename(path, doomed)
        shutil.rmtree(doomed)
    except OSError as error:
        raise EnvironmentsError(f"{path} cannot be removed: {error.strerror}; remove it by hand") from None


def changed(environment: Environment) -> list[str]:
    """What has been installed or removed since the environment was made."""
    return sorted(set(freeze(environment.interpreter)) ^ set(environment.packages))
