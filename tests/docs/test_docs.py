"""Every runnable block of the documentation runs: `python` blocks as programs, `sh` blocks as commands, in page order.

A block that begins with `# file: NAME` is saved under that name for the blocks after it. `text` blocks are output or
sketches. Each page runs in an empty directory of its own.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([*ROOT.glob("docs/*.md"), ROOT / "README.md"])
BLOCK = re.compile(r"^```(\w+)( run)?\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    command = tools / "inplace-fuzz"
    command.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{ROOT}" exec {sys.executable} -m inplace_fuzz.cli "$@"\n')
    command.chmod(0o755)
    path = os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]])
    home = tmp_path / "work"
    home.mkdir()
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    blocks = BLOCK.findall(page.read_text())
    # A page that marks what runs holds other blocks too: docs/pass.md, whose graphs its own tests compare.
    marked = any(mark for _, mark, _ in blocks)
    for kind, mark, text in blocks:
        if marked and not mark:
            continue
        if kind == "python":
            name = re.match(r"# file: (\S+)\n", text)
            if name:
                (home / name[1]).write_text(text)
            run([sys.executable, "-W", "ignore", "-c", text], home, environment, text)
        elif kind == "sh":
            run(["bash", "-euc", text], home, environment, text)


def run(command: list[str], home: Path, environment: dict[str, str], text: str) -> None:
    done = subprocess.run(command, check=False, cwd=home, env=environment, capture_output=True, text=True, timeout=300)
    # `check` exits with 1 when it finds a fault, which a page may well show.
    assert done.returncode in ((0, 1) if "inplace-fuzz check" in text else (0,)), (
        f"{text}\n{done.stdout}\n{done.stderr}"
    )


def test_every_page_is_reachable_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text()
    for page in PAGES:
        assert page.name == "README.md" or f"docs/{page.name}" in readme, f"{page.name} is not linked from README.md"
