"""One index and its environments for all tests here."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inplace_fuzz.execute import install
from tests.environments.local_index import PLANTED, build

ROOT = Path(__file__).resolve().parents[2]
Command = Callable[..., "subprocess.CompletedProcess[str]"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.xdist_group("environments"))  # one process makes them, once


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The index, with the environments 1.1 and 1.2 made from it."""
    directory = tmp_path_factory.mktemp("index")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in build(directory).items():
            patch.setenv(name, value)
        patch.syspath_prepend(str(directory))
        said: list[str] = []
        install.create(PLANTED, "1.1", say=said.append)
        (directory / "said").write_text("".join(said))
        said.clear()
        install.create(PLANTED, "1.2", say=said.append)
        (directory / "linked").write_text("".join(said))
        yield directory


@pytest.fixture
def command(index: Path, tmp_path: Path) -> Command:
    """Runs `inplace-fuzz` in an empty directory."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "inplace_fuzz.cli", *arguments],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(index)])},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )

    return run
