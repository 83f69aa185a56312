"""A small campaign store, written by the real Store, and the corpus that goes with it."""

from pathlib import Path

from inplace_fuzz import corpus
from inplace_fuzz.campaign.causes import cause_of
from inplace_fuzz.campaign.store import Finding, Store
from inplace_fuzz.core import Channel, Difference, Kind, Program, TensorSpec, Verdict
from inplace_fuzz.judge.bucket import bucket

VERSIONS = {"torchscript": "torch 2.13.0", "tvm": "apache-tvm 0.27.0.post1"}


def program(body: str, *specs: TensorSpec, arguments: str = "x") -> Program:
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    source = f"import torch\n\n\nclass M(torch.nn.Module):\n    def forward(self, {arguments}):\n{lines}\n"
    return Program(source, (specs,))


X = TensorSpec((2, 2), "float32", (1.0, 2.0, 3.0, 4.0))
SNAPSHOT = program("y = x.clone()\nx.zero_()\nreturn y", X)
LONG = program("y = x.clone()\nz = x[0]\nz = z + 1\nx.zero_()\nreturn y", X)
SELECT = program("x[0] = 7\nreturn x", X)
STRIDED = program("return x.t().clone()", X)
VALUES = Verdict(
    Kind.MISMATCH,
    (Channel.VALUES,),
    differences=(Difference("output 0", "[[1, 2], [3, 4]]", "[[0, 0], [0, 0]]", 4, 4),),
)
STRIDES = Verdict(Kind.MISMATCH, (Channel.STRIDES,), differences=(Difference("output 0", "(1, 2)", "(2, 1)"),))
FAILS = Verdict(
    Kind.ERROR,
    stage="convert",
    message="ValueError: IndexPut requires the number of index tensors (1) to match <b> & 2",
)
DIES = Verdict(Kind.CRASH, signal="SIGSEGV", message="killed by SIGSEGV in run")
REFUSES = "refused(convert)"


def write_corpus(directory: Path) -> str:
    """One entry that is known before the run. Returns its file name."""
    rows = [
        corpus.Expectation(
            "tvm", "direct", VERSIONS["tvm"], str(FAILS), "known", "https://example.org/1", FAILS.message
        ),
        corpus.Expectation("torchscript", "direct", VERSIONS["torchscript"], "agree"),
    ]
    return corpus.write_entry(directory, SELECT, rows, ["eager:  [[7, 7], [3, 4]]"]).name


def finding(backend: str, lane: str, verdict: Verdict, drawn: Program, **rest: object) -> Finding:
    return Finding(backend, lane, str(bucket(backend, lane, verdict)), verdict, drawn, **rest)  # type: ignore[arg-type]


def add(store: Store, found: Finding, minimal: Program | None = None, state: str = "new", entry: str = "") -> None:
    store.add(found)
    found.state, found.entry = state, entry
    if minimal is not None:
        found.minimal, found.minimal_verdict = minimal, found.verdict
        found.cause = cause_of(found.backend, found.lane, found.verdict, minimal)
    store.update(found)


def write_store(path: Path, directory: Path, *, with_new: bool = True) -> Path:
    """A run of two backends, a third that is not installed, three new root causes and a known one met twice."""
    known = write_corpus(directory)
    with Store(path) as store:
        store.begin(
            17, {"seconds": 60.0, "examples": None, "backends": ["torchscript", "tvm", "inductor"], "shard": [1, 1]}
        )
        store.set_version("torchscript", VERSIONS["torchscript"], "", tuple(Channel))
        store.set_version("tvm", VERSIONS["tvm"], "", ("values", "dtype", "shape", "structure"))
        store.set_version("inductor", "", "no C++ compiler; `apt-get install g++` brings one", ())
        if with_new:
            saved = corpus.write_entry(
                directory, SNAPSHOT, [corpus.Expectation("tvm", "direct", VERSIONS["tvm"], str(VALUES), "known")]
            )
            add(store, finding("tvm", "direct", VALUES, LONG), SNAPSHOT, "found", str(saved))
            add(
                store,
                finding("tvm", "legalised", VALUES, program("y = x + 0\nx.zero_()\nreturn y", X)),
                SNAPSHOT,
                "duplicate",
                str(saved),
            )
            add(store, finding("torchscript", "direct", STRIDES, STRIDED), state="new")
            add(store, finding("tvm", "rewritten", DIES, SELECT), SELECT, "found", "")
        if with_new:
            store.add(finding("tvm", "rewritten", VALUES, LONG, state="inherited"))  # repeats the direct lane's
        explained = finding("tvm", "direct", FAILS, program("x[1] = 3\nreturn x", X), state="explained")
        explained.cause = explained.bucket
        store.add(explained)
        add(store, finding("tvm", "direct", FAILS, program("x[0] = 9\nreturn x + 1", X)), SELECT, "known", known)
        tallies = {
            ("torchscript", "direct", "agree"): (4000, 20.0),
            ("tvm", "direct", "agree"): (60, 50.0),
            ("tvm", "direct", str(VALUES)): (5 * with_new, 5.0),
            ("tvm", "direct", str(FAILS)): (20, 9.0),
            ("tvm", "direct", REFUSES): (15, 8.0),
            ("tvm", "direct", "invalid"): (3, 0.1),
            ("tvm", "legalised", "agree"): (80, 60.0),
            ("tvm", "rewritten", "agree"): (99, 60.0),
        }
        if with_new:
            tallies["torchscript", "direct", str(STRIDES)] = (1, 0.1)
            tallies["tvm", "rewritten", str(DIES)] = (1, 0.5)
        store.progress(
            {k: v for k, v in tallies.items() if v[0]},
            {("views", "select"): 30},
            {("tvm", "direct", REFUSES, "AssertionError: Unsupported function types [N]"): 15},
            programs=4001,
            draw_seconds=0.0,
            explore_seconds=60.0,
            shrink_seconds=12.0,
            ended=True,
        )
    return path
