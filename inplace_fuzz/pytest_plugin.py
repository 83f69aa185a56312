"""The pytest plugin: `pytest --fuzz` gates compilers, and a project's corpus is replayed by plain `pytest`.

    pytest --fuzz                    one item per backend and lane; a new finding fails its item (`plugin/gate.py`)
    inplace_fuzz_corpus = "corpus"   this ini setting makes `pytest` replay that directory (`plugin/replay.py`)

Loaded into every pytest run where the package is installed, so this file imports pytest and nothing else: what a run
does not use, it does not pay for. torch is never imported in the pytest process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from inplace_fuzz.plugin.gate import Gate
    from inplace_fuzz.plugin.replay import Replay

_INI_HELP = "Directory of a corpus that is replayed as tests: one for each backend and lane of each file's table."

_TRUST_HELP = "Run corpus files whatever is in them, also what is not on the allowlist of syntax and operators."


# -------------------------------------------------------------------------------------------------------------- options
def pytest_addoption(parser: pytest.Parser) -> None:
    # Only the ini setting: see `plugin/options.py` for why the options come later.
    parser.addini("inplace_fuzz_corpus", _INI_HELP, default="")
    parser.addini("inplace_fuzz_trust", _TRUST_HELP, type="bool", default=False)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, Any, Any]:
    from inplace_fuzz.plugin import options

    options.keep_values_from_paths(early_config, parser, args)
    try:
        return (yield)
    finally:
        early_config.stash[options.PREFIX] = options.register(parser)


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("inplace_fuzz", None):
        return
    from inplace_fuzz.plugin import options

    settings = options.read(config)
    assert settings is not None
    from inplace_fuzz.plugin.gate import GATE, Gate

    config.stash[GATE] = Gate(settings, config)
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args = []  # nobody named any tests
    if getattr(config.option, "dist", "no") != "no":
        # One campaign with workers of its own; pytest-xdist's would each run one.
        config.option.dist, config.option.tx = "no", []


def _gate(config: pytest.Config) -> Gate | None:
    if not config.getoption("inplace_fuzz", None):
        return None
    from inplace_fuzz.plugin.gate import GATE

    return config.stash.get(GATE, None)


def pytest_report_header(config: pytest.Config) -> list[str]:
    from inplace_fuzz.plugin.options import PREFIX

    lines = []
    if config.stash.get(PREFIX, "--fuzz") != "--fuzz":
        lines.append(
            "inplace-fuzz: this project has a --fuzz of its own; ours is --inplace-fuzz, --inplace-fuzz-time …"
        )
    gate = _gate(config)
    if gate is not None:
        s = gate.settings
        lines.append(f"inplace-fuzz: {s.profile} profile, {s.budget}, seed {s.seed}, {s.workers} workers")
        lines.append(f"inplace-fuzz: backends {', '.join(s.backends)}")
        lines.append(f"inplace-fuzz: corpus {os.path.relpath(s.corpus)}; again with {s.again}")
    return lines


# ---------------------------------------------------------------------------------------------------------- collecting
@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    gate = _gate(session.config)
    if gate is not None:
        gate.prepare()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    gate = _gate(config)
    if gate is not None:
        items.extend(gate.items(session))


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Generator[None, Any, Any]:
    """Corpus files are ours alone: nobody else imports one, not even where it is named on the command line."""
    others = yield
    if file_path.suffix == ".py" and parent.config.getini("inplace_fuzz_corpus"):
        from inplace_fuzz.plugin.options import ini_directory

        if file_path.parent == ini_directory(parent.config):
            from inplace_fuzz.plugin.replay import CorpusFile, is_entry

            if is_entry(file_path, parent.config):
                return [CorpusFile.from_parent(parent, path=file_path)]
    return others


# -------------------------------------------------------------------------------------------------------------- running
def _replay(config: pytest.Config) -> Replay:
    from inplace_fuzz.plugin.replay import REPLAY, Replay

    if REPLAY not in config.stash:
        distributed = hasattr(config, "workerinput")  # a pytest-xdist worker
        workers = 1 if distributed else min(2, len(os.sched_getaffinity(0)))
        config.stash[REPLAY] = Replay(workers, one_by_one=distributed)
    return config.stash[REPLAY]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    module = sys.modules.get("inplace_fuzz.plugin.replay")  # not imported means that no item is one of ours
    if module is not None and isinstance(item, module.CorpusItem):
        reason = item.skip_reason(_replay(item.config))
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    gate = _gate(session.config)
    if gate is not None and gate.finished is not None and gate.finished.interrupted:
        session.exitstatus = pytest.ExitCode.INTERRUPTED


def pytest_unconfigure(config: pytest.Config) -> None:
    module = sys.modules.get("inplace_fuzz.plugin.replay")
    if module is not None and module.REPLAY in config.stash:
        config.stash[module.REPLAY].close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    gate = _gate(config)
    lines = gate.summary() if gate is not None else []
    if lines:
        terminalreporter.section("inplace-fuzz")
        for line in lines:
            terminalreporter.line(line)
