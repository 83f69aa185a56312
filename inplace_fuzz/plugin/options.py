"""The plugin's command line: how its options are named, and what they come to.

Several projects have a `--fuzz` of their own, defined in a conftest. A plugin that is installed registers before any
conftest is read, so that taking the name first would make *their* code fail. Ours are therefore registered after the
conftests have been loaded, and where one of the names is taken, all of them get a longer one: `--inplace-fuzz`,
`--inplace-fuzz-time` and so on.
"""

from __future__ import annotations

import copy
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from inplace_fuzz.backends.commandline import typed

INI = "inplace_fuzz_corpus"
TRUST_INI = "inplace_fuzz_trust"
PREFIX = pytest.StashKey[str]()  # `--fuzz`, or `--inplace-fuzz` where the project owns that
_GROUP = "inplace-fuzz"
_HEADING = "fuzzing of in-place writes through views (inplace-fuzz)"
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
# suffix: (metavar, help). The option itself, which takes no value, is registered apart.
_VALUES = {
    "-time": (
        "TIME",
        "How long to explore in the whole run: 90s, 5m, 2h. Default: 60s. Shrinking may take as long again.",
    ),
    "-examples": ("N", "Draw this many programs instead; then a seed draws the same ones every time."),
    "-seed": ("N", "The seed, as a run prints it. Default: a new one for each run."),
    "-backends": (
        "NAMES",
        "Backends, with commas between them, cmd:COMMAND last. Default: those that are installed and fast.",
    ),
    "-baseline": (
        "NAMES",
        "Fail only for what these versions get right, for example tvm@0.26.0 where the backends have a newer tvm.",
    ),
    "-corpus": ("DIR", f"Where findings are kept and known ones are read. Default: the ini setting {INI}, or corpus."),
    "-report": ("DIR", "Write report.html, report.md, runs.csv and junit.xml there."),
    "-profile": (
        "NAME",
        "dev (60s, a new seed), ci (60s, always the same seed) or nightly (30m, the date as the seed).",
    ),
}


@dataclass(frozen=True)
class Profile:
    seconds: float
    seed: str  # "random", "fixed" or "date"
    all_cores: bool
    shrink_share: float


PROFILES = {
    "dev": Profile(60.0, "random", all_cores=False, shrink_share=1.0),
    # The same programs for every pull request: it turns red for what the pull request did. Nightly runs look for news.
    "ci": Profile(60.0, "fixed", all_cores=True, shrink_share=1.0),
    "nightly": Profile(1800.0, "date", all_cores=True, shrink_share=1.0),
}


@dataclass(frozen=True)
class Settings:
    """What a `--fuzz` run is to do."""

    option: str  # `--fuzz` or `--inplace-fuzz`
    profile: str
    seconds: float | None
    examples: int | None
    seed: int
    backends: tuple[str, ...]
    baseline: tuple[str, ...]
    asked: bool  # whether the user named the backends
    corpus: Path
    report: Path | None
    workers: int
    shrink_share: float

    @property
    def budget(self) -> str:
        parts = [f"{self.examples} programs"] if self.examples is not None else []
        parts += [f"{self.seconds:g} seconds"] if self.seconds is not None else []
        return ", at most ".join(parts)

    @property
    def again(self) -> str:
        """What to type to get the same programs again."""
        words = [self.option]
        words += [f"{self.option}-examples={self.examples}"] if self.examples is not None else []
        words += [f"{self.option}-time={self.seconds:g}s"] if self.seconds is not None else []
        words += [f"{self.option}-backends={typed(self.backends)}"] if self.asked else []
        words += [f"{self.option}-baseline={','.join(self.baseline)}"] if self.baseline else []
        return " ".join([*words, f"{self.option}-seed={self.seed}"])


# -------------------------------------------------------------------------------------------------------- registering
def register(parser: pytest.Parser) -> str:
    """Adds the options under the first prefix that nobody else uses, and returns it."""
    option = "--fuzz"
    if any(_taken(parser, option + suffix) for suffix in ("", "-trust", *_VALUES)):
        option = "--inplace-fuzz"
    group = parser.getgroup(_GROUP, _HEADING)
    group.addoption(
        option,
        action="store_const",
        const=option,
        default=None,
        dest="inplace_fuzz",
        help="Fuzz the installed compilers instead of running tests: one item per backend and lane, which fails for "
        "a new finding and passes for known ones. Tests run too where paths are given.",
    )
    group.addoption(
        f"{option}-trust",
        action="store_true",
        dest="inplace_fuzz_trust",
        help=f"Replay corpus files whatever is in them. Default: the ini setting {TRUST_INI}.",
    )
    for suffix, (metavar, text) in _VALUES.items():
        dest = "inplace_fuzz" + suffix.replace("-", "_")
        group.addoption(option + suffix, metavar=metavar, default=None, dest=dest, help=text)
    return option


def _taken(parser: pytest.Parser, name: str) -> bool:
    try:
        return name not in parser.parse_known_and_unknown_args([name])[1]
    except (pytest.UsageError, SystemExit):
        return True  # it is known, and wants a value


def keep_values_from_paths(config: pytest.Config, parser: pytest.Parser, args: Sequence[str]) -> None:
    """Keeps `out` of `--fuzz-report out` from being taken for a test path while our options are not registered yet.

    pytest would load the conftests of `out` in place of those of the directory where it was started.
    """
    names = {prefix + suffix for prefix in ("--fuzz", "--inplace-fuzz") for suffix in _VALUES}
    drop = {k + d for k, arg in enumerate(args) if arg in names for d in (0, 1)}
    if not drop:
        return
    rest = [arg for k, arg in enumerate(args) if k not in drop]
    parsed = parser.parse_known_args(rest, namespace=copy.copy(config.option))
    config.known_args_namespace.file_or_dir = parsed.file_or_dir
    outside = [args[k] for k in sorted(drop) if k < len(args) and args[k] not in names and Path(args[k]).exists()]
    here = config.invocation_params.dir
    if outside and config.inipath is None and config.rootpath != here and config.rootpath in here.parents:
        # pytest has looked for its configuration above that path too, and cannot be made to look again.
        option = args[args.index(outside[0]) - 1]
        raise pytest.UsageError(
            f"write {option}={outside[0]}, with `=`: pytest takes the path for one of tests otherwise"
        )


# ------------------------------------------------------------------------------------------------------------- reading
def read(config: pytest.Config) -> Settings | None:
    """The settings of a `--fuzz` run, or None for an ordinary one. Raises UsageError, one clear line each."""
    option = config.getoption("inplace_fuzz", None)
    if not option:
        return None
    name = _value(config, "profile") or "dev"
    if name not in PROFILES:
        raise pytest.UsageError(f"{option}-profile {name!r} is not a profile; choose from {', '.join(PROFILES)}")
    profile = PROFILES[name]
    seconds, examples = _value(config, "time"), _value(config, "examples")
    count = None if examples is None else positive(examples, f"{option}-examples")
    limit = profile.seconds if seconds is None and count is None else None
    backends = _value(config, "backends")
    baseline = _value(config, "baseline")
    report = _value(config, "report")
    return Settings(
        option,
        name,
        limit if seconds is None else parse_time(seconds, f"{option}-time"),
        count,
        _seed(config, option, profile),
        _default_backends() if backends is None else _backends(backends, f"{option}-backends"),
        () if baseline is None else _backends(baseline, f"{option}-baseline"),
        backends is not None,
        corpus_directory(config) or config.rootpath / "corpus",
        None if report is None else config.invocation_params.dir / report,
        _workers(config, profile),
        profile.shrink_share,
    )


def _value(config: pytest.Config, name: str) -> str | None:
    value = config.getoption(f"inplace_fuzz_{name}", None)
    return None if value is None else str(value)


def corpus_directory(config: pytest.Config) -> Path | None:
    """The directory of `--fuzz-corpus`, or else of the ini setting, or None where the project names none."""
    given = _value(config, "corpus")
    if given is not None:
        return config.invocation_params.dir / given
    return ini_directory(config)


def trusted(config: pytest.Config) -> bool:
    """Whether corpus files are run whatever is in them."""
    return bool(config.getoption("inplace_fuzz_trust", False) or config.getini(TRUST_INI))


def ini_directory(config: pytest.Config) -> Path | None:
    named = config.getini(INI)
    base = config.inipath.parent if config.inipath is not None else config.rootpath
    return base / str(named) if named else None


def parse_time(text: str, option: str) -> float:
    """Seconds. Raises UsageError for what is no time, or no time at all."""
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*([smh]?)", text.strip())
    if match is None:
        raise pytest.UsageError(f"{option} {text!r} is not a time; write for example {option}=90s, 5m or 2h")
    seconds = float(match[1]) * _UNITS[match[2]]
    if seconds <= 0:
        raise pytest.UsageError(f"{option} must be more than zero; write for example {option}=60s")
    return seconds


def positive(text: str, option: str) -> int:
    if not re.fullmatch(r"\d+", text.strip()) or int(text) == 0:
        raise pytest.UsageError(f"{option} {text!r} is not a number of programs; write for example {option}=200")
    return int(text)


def _seed(config: pytest.Config, option: str, profile: Profile) -> int:
    given = _value(config, "seed")
    if given is not None:
        if not re.fullmatch(r"\d{1,15}", given.strip()):
            raise pytest.UsageError(f"{option}-seed {given!r} is not a seed; write a whole number, as a run prints it")
        return int(given)
    if profile.seed == "date":
        return int(time.strftime("%Y%m%d", time.gmtime()))
    # Not from the environment: CI=1 must not make every night draw the same programs.
    return 0 if profile.seed == "fixed" else int.from_bytes(os.urandom(4)) % 10**6


def _default_backends() -> tuple[str, ...]:
    from inplace_fuzz.backends import DEFAULT

    return DEFAULT


def _backends(text: str, option: str) -> tuple[str, ...]:
    from inplace_fuzz.backends import UnknownBackend, names, resolve_all

    try:
        wanted = resolve_all(text)
    except UnknownBackend as error:
        raise pytest.UsageError(f"{option}: {error}") from None
    if not wanted:
        raise pytest.UsageError(f"{option} names no backend; choose from {', '.join(names())}")
    return wanted


def _workers(config: pytest.Config, profile: Profile) -> int:
    """As many as `-n` asks of pytest-xdist; else a few, or what there is."""
    asked = config.getoption("numprocesses", None)
    if isinstance(asked, int) and asked > 0:
        return asked
    cores = len(os.sched_getaffinity(0))
    return cores if profile.all_cores else min(2, cores)
