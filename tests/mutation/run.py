"""Mutation testing of `inplace_fuzz/rewrite/` with cosmic-ray: does some test fail when a line of the pass is wrong?

    pip install cosmic-ray && python tests/mutation/run.py [--mutants 500] [--seed 1] [--session mutation.sqlite]

The tree is copied first, because mutants are written into files. A session is resumed where it ended. Mutants inside
annotations and docstrings change nothing and are not drawn; at most one is drawn for each place and kind of change.
Prints each survivor as a diff, and exits with 1 when there is one that `survivors.txt` does not explain.
"""

from __future__ import annotations

import argparse
import ast
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXPLAINED = HERE / "survivors.txt"
CONFIG = """[cosmic-ray]
module-path = "inplace_fuzz/rewrite"
timeout = 600.0
excluded-modules = []
test-command = "{python} tests/mutation/forkserver.py test {socket}"

[cosmic-ray.distributor]
name = "local"
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--session", type=Path, default=Path("mutation.sqlite"), help="kept, and resumed")
    options = parser.parse_args()
    session = options.session.resolve()
    with tempfile.TemporaryDirectory(prefix="inplace-fuzz-mutation-") as directory:
        tree = Path(directory) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", ".venv*", "__pycache__", "*.sqlite"))
        socket = Path(directory) / "socket"
        config = tree / "cosmic-ray.toml"
        config.write_text(CONFIG.format(python=sys.executable, socket=socket))
        if not session.exists():
            cosmic_ray("init", config, session, tree=tree)
            sample(session, options.mutants, options.seed, tree)
        server = subprocess.Popen(
            [sys.executable, "tests/mutation/forkserver.py", "serve", str(socket)], cwd=tree, stdout=subprocess.PIPE
        )
        try:
            assert server.stdout is not None
            assert server.stdout.readline(), "the fork server does not start"
            if subprocess.run([sys.executable, HERE / "forkserver.py", "test", socket], check=False).returncode:
                print("the tests fail on the unchanged tree; mend them first", file=sys.stderr)
                return 2
            started = time.monotonic()
            cosmic_ray("exec", config, session, tree=tree)
            print(f"{time.monotonic() - started:.0f} s in this run")
        finally:
            server.kill()
            server.wait()
    return report(session)


def cosmic_ray(action: str, config: Path, session: Path, *, tree: Path) -> None:
    subprocess.run([sys.executable, "-m", "cosmic_ray.cli", action, config, session], cwd=tree, check=True)


def sample(session: Path, count: int, seed: int, tree: Path) -> None:
    """Keeps `count` of all mutants."""
    from cosmic_ray.work_db import WorkDB, use_db

    with use_db(str(session), WorkDB.Mode.open) as database:
        items = sorted(database.work_items, key=lambda item: repr(item.mutations))
        random.Random(seed).shuffle(items)
        silent = {path: Annotations(tree / path) for path in {item.mutations[0].module_path for item in items}}
        seen, kept = set(), []
        for item in items:
            change = item.mutations[0]
            place = (change.module_path, change.start_pos, change.operator_name.split("_")[0])
            if place not in seen and change.start_pos not in silent[change.module_path]:
                seen.add(place)
                kept.append(item)
        database.clear()
        database.add_work_items(kept[:count])
        print(f"{len(items)} mutants, {len(kept)} at places of their own, {min(count, len(kept))} drawn")


class Annotations:
    """The positions of a file that say types."""

    def __init__(self, path: Path) -> None:
        self._spans = []
        for node in ast.walk(ast.parse(path.read_text())):
            for name in ("annotation", "returns"):
                part = getattr(node, name, None)
                if isinstance(part, ast.AST):
                    self._spans.append(((part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)))

    def __contains__(self, position: tuple[int, int]) -> bool:
        return any(start <= position < end for start, end in self._spans)


def report(session: Path) -> int:
    """The table, and the survivors that nobody has explained."""
    from cosmic_ray.work_db import WorkDB, use_db

    counts: Counter[tuple[str, str]] = Counter()
    survivors = []
    with use_db(str(session), WorkDB.Mode.open) as database:
        changes: dict[str, Any] = {item.job_id: item.mutations[0] for item in database.work_items}
        for job, result in database.results:
            name = changes[job].module_path.name
            counts[name, "killed" if result.is_killed else "survived"] += 1
            if not result.is_killed:
                survivors.append((changes[job], result.diff or ""))
    print(f"{'file':24} {'killed':>7} {'survived':>9}")
    for name in sorted({n for n, _ in counts}):
        print(f"{name:24} {counts[name, 'killed']:7} {counts[name, 'survived']:9}")
    print(f"{'all':24} {sum(n for (_, k), n in counts.items() if k == 'killed'):7} {len(survivors):9}")
    known = EXPLAINED.read_text() if EXPLAINED.exists() else ""
    open_ones = 0
    for change, diff in survivors:
        lines = [line for line in diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
        said = f"{change.module_path.name}: {' => '.join(line[1:].strip() for line in lines)}"
        explained = said in known
        open_ones += not explained
        print(f"{'explained' if explained else 'SURVIVED '} {said}")
    return 1 if open_ones else 0


if __name__ == "__main__":
    sys.exit(main())
