"""`inplace-fuzz`: the command line. Each command is a few lines over the rooms below.

Exit status: 0 when the command did its work, whatever it found; 1 when `replay`, `check` or `sweep` saw something other
than expected; 2 when the command itself could not do its work, with one line that says what to type next.
"""

from __future__ import annotations

import errno
import functools
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from inplace_fuzz import __version__
from inplace_fuzz.backends import DEFAULT, UnknownBackend, names, resolve, resolve_all
from inplace_fuzz.conformance import FAMILY_NAMES, FORMATS
from inplace_fuzz.core import Lane, ProgramError, SpecError
from inplace_fuzz.execute.sweeping import REWRITE


def user_errors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Turns every error that a user can cause into one line and exit status 2."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        from inplace_fuzz.campaign.bisect import BisectError
        from inplace_fuzz.campaign.run import CampaignError
        from inplace_fuzz.campaign.store import StoreError
        from inplace_fuzz.campaign.sweep_state import SweepError
        from inplace_fuzz.corpus import CorpusError
        from inplace_fuzz.execute.drawing import DrawingFailed
        from inplace_fuzz.execute.engine import EngineError, OperationFailed
        from inplace_fuzz.execute.environments import EnvironmentsError

        ours = (BisectError, CampaignError, CorpusError, DrawingFailed, EngineError, EnvironmentsError)
        expected = (*ours, OperationFailed, ProgramError, SpecError, StoreError, SweepError, UnknownBackend)
        try:
            return function(*args, **kwargs)
        except expected as error:
            click.echo(f"inplace-fuzz: {error}", err=True)
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            click.echo(f"inplace-fuzz: {where}{error.strerror or error}{_room(error)}", err=True)
        except KeyboardInterrupt:
            click.echo("inplace-fuzz: interrupted", err=True)
        sys.exit(2)

    return wrapped


def _room(error: OSError) -> str:
    """What to do about a temporary directory that cannot be used."""
    if "temporary directory" in str(error):
        return "; name one that can be written in TMPDIR"
    full = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES}
    if full and str(error.filename or "").startswith(tempfile.gettempdir()):
        return "; free some space there, or name another directory in TMPDIR"
    return ""


class Duration(click.ParamType):  # type: ignore[type-arg]  # generic in some versions of click alone
    """`90`, `90s`, `10m` or `2h`, in seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        from inplace_fuzz.commands.options import parse_duration

        if isinstance(value, (int, float)):
            return float(value)
        try:
            return parse_duration(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Names(click.ParamType):  # type: ignore[type-arg]
    """A comma-separated list of backends, of which `tvm@0.26.0` is one, and a command the last."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        try:
            found = resolve_all(value)
        except UnknownBackend as error:
            self.fail(str(error), param, ctx)
        if not found:
            self.fail(f"name at least one backend, for example --{param.name if param else 'backends'} tvm", param, ctx)
        return found


MIXES = ("default", "control-flow", "shared-inputs", "rounding")
BACKENDS = click.option(
    "--backends",
    "--backend",
    type=Names(),
    default=DEFAULT,
    show_default=",".join(DEFAULT),
    help='Comma-separated backends; tvm@0.26.0 is one version of one, "cmd:./my-compiler {program} {inputs} {outputs}" '
    "a compiler without an adapter.",
)
LANES = click.option(
    "--lane",
    "lanes",
    type=click.Choice([str(lane) for lane in Lane]),
    multiple=True,
    help="Only this lane; repeatable.",
)
CORPUS = click.option(
    "--corpus", type=click.Path(path_type=Path), default=Path("corpus"), show_default=True, help="The corpus directory."
)
STORE = click.option(
    "--store",
    type=click.Path(path_type=Path),
    default=Path(".inplace-fuzz/campaign.sqlite"),
    show_default=True,
    help="The campaign's database.",
)
ROUTE = click.option("--route", type=click.Choice(["script", "trace"]), default="script", show_default=True)
TARGET = click.argument("target", metavar="FILE.py[:Class]")
TARGETS = click.argument("targets", nargs=-1, metavar="[FILE.py[:Class]]...")
INPUTS = click.option("--input", "inputs", multiple=True, help='An input, for example "f32[4,3]"; repeatable.')
TRUST = click.option("--trust", is_flag=True, help="Run the file whatever is in it, as Python would.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="inplace-fuzz")
def cli() -> None:
    """Find the smallest in-place write through a view that breaks a PyTorch compiler."""


@cli.command()
@click.option("--time", "seconds", type=Duration(), default=None, help="How long to explore: 10m, 2h. [default: 60s]")
@click.option("--examples", type=click.IntRange(min=1), default=None, help="Judge this many programs, then stop.")
@click.option("--seed", type=click.IntRange(min=0), default=None, help="The same seed draws the same programs.")
@BACKENDS
@LANES
@CORPUS
@STORE
@click.option("--report", type=click.Path(path_type=Path), default=None, help="Write a report into this directory.")
@click.option("--workers", type=click.IntRange(1, 256), default=2, show_default=True)
@click.option("--mix", type=click.Choice(MIXES), default=None, help="A named feature mix of the generator.")
@click.option("--shard", default="1/1", help="This machine's part, i/n.")
@click.option(
    "--baseline", type=Names(), default=(), help="Keep only what these versions, for example tvm@0.26.0, get right."
)
@click.option("--no-save", is_flag=True, help="Leave the corpus as it is; findings stay in the store.")
@user_errors
def run(**options: Any) -> None:
    """Draw programs and judge them until the time is up; shrink, name and keep what differs."""
    from inplace_fuzz.commands.run import run_campaign

    run_campaign(**options)


@cli.command()
@TARGETS
@click.option(
    "--backends", type=Names(), default=None, help="Only these, for example tvm@0.26.0. [default: the file's]"
)
@click.option("--corpus", type=click.Path(path_type=Path), default=Path("corpus"), show_default=True)
@TRUST
@user_errors
def replay(targets: tuple[str, ...], backends: tuple[str, ...] | None, corpus: Path, trust: bool) -> None:
    """Run corpus files again and say whether each expectation still holds (all of the corpus by default)."""
    from inplace_fuzz.commands.corpus import replay_files

    sys.exit(replay_files(targets, corpus, backends, trust=trust))


@cli.command()
@TARGET
@INPUTS
@ROUTE
@TRUST
@user_errors
def show(target: str, inputs: tuple[str, ...], route: str, trust: bool) -> None:
    """Print a program, its TorchScript graph, and the graph that the pass makes of it."""
    from inplace_fuzz.commands.programs import show_program

    show_program(target, inputs, route, trust=trust)


@cli.command()
@TARGET
@INPUTS
@ROUTE
@TRUST
@user_errors
def rewrite(target: str, inputs: tuple[str, ...], route: str, trust: bool) -> None:
    """Print the graph that the pass makes of your own module."""
    from inplace_fuzz.commands.programs import show_program

    show_program(target, inputs, route, trust=trust)


@cli.command()
@TARGET
@INPUTS
@BACKENDS
@LANES
@TRUST
@user_errors
def check(target: str, inputs: tuple[str, ...], backends: tuple[str, ...], lanes: tuple[str, ...], trust: bool) -> None:
    """Run your own module through backends and compare with eager."""
    from inplace_fuzz.commands.programs import check_module

    wanted = tuple(Lane(lane) for lane in lanes) or tuple(Lane)
    sys.exit(check_module(target, inputs, backends, wanted, trust=trust))


@cli.command()
@TARGET
@click.option("--backend", default=None, help="Whose fault to keep. [default: the file's first known fault]")
@click.option("--lane", default="direct", type=click.Choice([str(lane) for lane in Lane]))
@click.option("--time", "seconds", type=Duration(), default=60.0, show_default="60s")
@CORPUS
@TRUST
@user_errors
def shrink(target: str, backend: str | None, lane: str, seconds: float, corpus: Path, trust: bool) -> None:
    """Shrink a program to the smallest that shows the same fault, and save it in the corpus."""
    from inplace_fuzz.commands.programs import shrink_program

    if backend is not None:
        backend = resolve(backend)
    shrink_program(target, backend, lane, seconds, corpus, trust=trust)


@cli.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--backend", default=None, help="Whose releases to search. [default: the file's first known fault]")
@click.option("--lane", default="direct", type=click.Choice([str(lane) for lane in Lane]))
@click.option("--good", default="", metavar="VERSION", help="A release without the fault. [default: one is looked for]")
@click.option("--bad", default="", metavar="VERSION", help="A release with the fault. [default: the newest]")
@click.option("--torch", default="", metavar="VERSION", help="Install each release with this torch.")
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    default=Path(".inplace-fuzz/bisect"),
    show_default=True,
    help="Where a search keeps what it has learnt, to go on later.",
)
@TRUST
@user_errors
def bisect(path: Path, backend: str | None, **options: Any) -> None:
    """Find the first release of a compiler that has a fault, and write it into the file."""
    from inplace_fuzz.commands.bisect import bisect_file

    if backend is not None:
        backend = resolve(backend)
    bisect_file(path, backend, **options)


@cli.command()
@click.argument("path")
@click.option("--backend", default=None, help="Whose fault to report. [default: the file's first known fault]")
@click.option("--script", "alone", is_flag=True, help="Only the reproducer.")
@TRUST
@user_errors
def issue(path: str, backend: str | None, alone: bool, trust: bool) -> None:
    """Print a bug report for a corpus file, as the compiler's own tracker asks for it."""
    from inplace_fuzz.commands.reproduce import print_issue, print_script

    if backend is not None:
        backend = resolve(backend)
    (print_script if alone else print_issue)(path, backend, trust=trust)


@cli.command()
@click.argument("path")
@click.option("--backend", default=None, help="Whose fault to test for. [default: the file's first known fault]")
@TRUST
@user_errors
def export(path: str, backend: str | None, trust: bool) -> None:
    """Print a test for a compiler's own suite, which needs torch, pytest and that compiler alone."""
    from inplace_fuzz.commands.reproduce import print_test

    if backend is not None:
        backend = resolve(backend)
    print_test(path, backend, trust=trust)


@cli.group()
def corpus() -> None:
    """List, update and index the corpus."""


@corpus.command("list")
@CORPUS
@user_errors
def corpus_list(corpus: Path) -> None:
    """One line per expectation."""
    from inplace_fuzz.commands.corpus import list_corpus

    list_corpus(corpus)


@corpus.command("update")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--backends", type=Names(), default=None, help="Only these. [default: the file's and the default ones]")
@CORPUS
@TRUST
@user_errors
def corpus_update(paths: tuple[Path, ...], backends: tuple[str, ...] | None, corpus: Path, trust: bool) -> None:
    """Run files again and write down what each backend gives now."""
    from inplace_fuzz.commands.corpus import update_files

    update_files(paths, backends, corpus, trust=trust)


@corpus.command("add")
@click.argument("targets", nargs=-1, required=True, metavar="FILE.py[:Class]...")
@click.option("--title", default="", help="One sentence: what the program does or what goes wrong.")
@BACKENDS
@CORPUS
@TRUST
@user_errors
def corpus_add(targets: tuple[str, ...], title: str, backends: tuple[str, ...], corpus: Path, trust: bool) -> None:
    """Take program files into the corpus, with what each backend gives for them."""
    from inplace_fuzz.commands.corpus import add_files

    sys.exit(add_files(targets, title, backends, corpus, trust=trust))


@corpus.command("readme")
@CORPUS
@user_errors
def corpus_readme(corpus: Path) -> None:
    """Write corpus/README.md from the headers."""
    from inplace_fuzz.commands.corpus import write_readme

    write_readme(corpus)


@cli.command()
@STORE
@CORPUS
@click.option("--out", type=click.Path(path_type=Path), default=Path("reports/latest"), show_default=True)
@user_errors
def report(store: Path, corpus: Path, out: Path) -> None:
    """Write report.md, report.html, runs.csv and junit.xml from a campaign's store."""
    from inplace_fuzz.commands.run import write_report_files

    write_report_files(store, out, corpus)


@cli.command()
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path))
@STORE
@user_errors
def merge(sources: tuple[Path, ...], store: Path) -> None:
    """Add the stores of other machines to this one."""
    from inplace_fuzz.commands.run import merge_stores

    merge_stores(sources, store)


@cli.command()
@click.option(
    "--programs", type=click.IntRange(min=1), default=10_000, show_default=True, help="How many, over all runs."
)
@click.option("--time", "seconds", type=Duration(), default=None, help="Stop earlier, after 10m or 2h.")
@click.option("--mix", type=click.Choice(MIXES), default="default", show_default=True, help="A named feature mix.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True)
@click.option("--chunk", type=click.IntRange(1, 100_000), default=1000, show_default=True, help="Programs a process.")
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    default=Path(".inplace-fuzz/sweep.sqlite"),
    show_default=True,
    help="What earlier runs have done; a run goes on from there.",
)
@click.option("--pass", "rewrite", default=REWRITE, show_default=True, help="Another pass, as module:function.")
@click.option("--table", is_flag=True, help="Only print what the state holds.")
@click.option("--pairs", is_flag=True, help="Only print every pair of views and writes, and how often it was judged.")
@click.option("--findings", is_flag=True, help="Only print the programs that disagreed.")
@user_errors
def sweep(**options: Any) -> None:
    """Judge the pass alone: graphs against their rewriting, on as many drawn programs as you ask for."""
    from inplace_fuzz.commands.sweep import run_sweep

    sys.exit(run_sweep(**options))


@cli.command()
@click.option("--backends", type=Names(), default=(), help="Score these. [default: this package's own pass]")
@LANES
@click.option("--family", "families", multiple=True, type=click.Choice(FAMILY_NAMES), help="Only this; repeatable.")
@click.option("--case", "cases", multiple=True, help="Only this case; repeatable.")
@click.option("--peers", is_flag=True, help="Score the pass beside the peers that come with torch.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--workers", type=click.IntRange(1, 256), default=2, show_default=True)
@click.option("--save", type=click.Path(path_type=Path), default=None, help="Write the cases there, and score nothing.")
@user_errors
def conformance(save: Path | None, **options: Any) -> None:
    """Score passes and compilers on the conformance suite, per family, and name every case that does not agree."""
    from inplace_fuzz.commands.conformance import run_conformance, save_cases

    if save is not None:
        save_cases(save, options["families"])
    else:
        run_conformance(**options)


@cli.command("backends")
@click.option("--backends", "wanted", type=Names(), default=None, help="Only these.")
@user_errors
def list_backends(wanted: tuple[str, ...] | None) -> None:
    """Name, version or why it cannot run, lanes, and the channels that each promises."""
    from inplace_fuzz.commands.programs import print_backends
    from inplace_fuzz.execute.environments import other_columns

    print_backends(wanted or (*names(), *other_columns()))


@cli.group("env")
def environments() -> None:
    """Make and remove environments: one compiler in one version, with a torch of its own."""


@environments.command("list")
@user_errors
def env_list() -> None:
    """One line per environment: its name, what is in it, how large it is."""
    from inplace_fuzz.commands.environments import list_environments

    list_environments()


@environments.command("create")
@click.argument("wanted", metavar="NAME[==VERSION]…", nargs=-1, required=True)
@click.option("--torch", default="", metavar="VERSION", help="With this torch. [default: ours, where it will do]")
@user_errors
def env_create(wanted: tuple[str, ...], torch: str) -> None:
    """Make an environment for a backend, with its newest release or the one given."""
    from inplace_fuzz.commands.environments import create_environments

    create_environments(wanted, torch)


@environments.command("remove")
@click.argument("wanted", metavar="NAME[==VERSION]…", nargs=-1, required=True)
@user_errors
def env_remove(wanted: tuple[str, ...]) -> None:
    """Remove environments."""
    from inplace_fuzz.commands.environments import remove_environments

    remove_environments(wanted)


@environments.command("doctor")
@user_errors
def env_doctor() -> None:
    """Look whether every environment works, and clear away what was left half-made."""
    from inplace_fuzz.commands.environments import doctor

    sys.exit(doctor())


def main() -> None:
    """The console script."""
    cli(prog_name="inplace-fuzz")


if __name__ == "__main__":
    main()
