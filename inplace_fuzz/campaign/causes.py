"""Root causes: which findings are the same, and which are known.

A verdict with a message (an error, a refusal, a death) is told apart by that message without its values. A mismatch is
told apart by the canonical form of its minimal program. A finding that has not been shrunk is *explained* when a known
cause of its bucket has a minimal program all of whose features it has too: it probably holds that cause, and is shrunk
only when there is time left over.

Before anything is shrunk, the program is run with the known causes respelled (`shrink.respell`): where it is right
then, there is nothing new in it, and where it is not, what is shrunk is what the known causes do not explain.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from inplace_fuzz.core import Kind, Program, Verdict, base_name, lane_key
from inplace_fuzz.core.features import features
from inplace_fuzz.corpus import Entry
from inplace_fuzz.judge.bucket import Bucket, bucket
from inplace_fuzz.shrink import canonical_key
from inplace_fuzz.shrink.respell import BY_NAME

_FAMILY = 3  # write operators after which a fault is taken to be about none of them


def feature_set(program: Program) -> frozenset[str]:
    """Everything that the program's text holds, as `kind:name` words."""
    found = features(program)
    kinds = ("views", "indices", "writes", "targets", "control")
    return frozenset(f"{kind}:{name}" for kind in kinds for name in getattr(found, kind))


def _apart_from_writes(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if not word.startswith("writes:"))


def has_message(verdict: Verdict) -> bool:
    return verdict.kind is Kind.ERROR


def cause_of(backend: str, lane: str, verdict: Verdict, minimal: Program) -> str:
    """One word per root cause of a backend and lane."""
    place = bucket(backend, lane, verdict)
    return str(place) if has_message(verdict) else f"{_coarse(place)} | {canonical_key(minimal)}"


def _coarse(place: Bucket) -> str:
    return f"{place.backend}/{place.lane} | {place.verdict}"


def _kind(backend: str, lane: str, verdict: Verdict) -> str:
    return f"{lane_key(base_name(backend), lane)} | {verdict.kind} | {verdict.stage}"


@dataclass
class Causes:
    """What is known of each bucket: its causes, the features of their minimal programs, and who holds them."""

    entries: dict[str, str] = field(default_factory=dict)  # cause -> corpus file name
    # bucket and all features but the writes -> (write operators seen there, corpus file name)
    families: dict[tuple[str, frozenset[str]], tuple[set[str], str]] = field(default_factory=dict)
    minimal: dict[str, list[tuple[frozenset[str], str]]] = field(default_factory=dict)  # bucket -> (features, cause)
    cured: dict[str, dict[str, str]] = field(default_factory=dict)  # backend, lane, kind -> respelling -> corpus file

    def learn(
        self, backend: str, lane: str, verdict: Verdict, program: Program, entry: str, cures: Iterable[str] = ()
    ) -> None:
        for name in cures:
            if name in BY_NAME:
                self.cured.setdefault(_kind(backend, lane, verdict), {}).setdefault(name, entry)
        cause = cause_of(backend, lane, verdict, program)
        self.entries.setdefault(cause, entry)
        place = _coarse(bucket(backend, lane, verdict))
        have = feature_set(program)
        self.minimal.setdefault(place, []).append((have, cause))
        if not has_message(verdict):
            writes, _ = self.families.setdefault((place, _apart_from_writes(have)), (set(), entry))
            writes |= have - _apart_from_writes(have)

    def learn_corpus(self, entries: Iterable[Entry]) -> None:
        """Takes every fault in the corpus as known."""
        for entry in entries:
            if entry.program is None:
                continue
            for row in entry.expectations:
                verdict = Verdict.parse(row.verdict)
                if verdict.is_finding:
                    said = Verdict(verdict.kind, verdict.channels, verdict.stage, verdict.signal, row.message)
                    self.learn(row.backend, row.lane, said, entry.program, entry.path.name, row.cures)

    def known(self, cause: str) -> str:
        """The corpus file that holds this cause, or nothing."""
        return self.entries.get(cause, "")

    def respellings(self, backend: str, lane: str, verdict: Verdict) -> dict[str, str]:
        """What cures known faults of this backend, lane and kind of verdict: respelling -> corpus file."""
        return {} if verdict.origin == "pass" else self.cured.get(_kind(backend, lane, verdict), {})

    def family(self, backend: str, lane: str, verdict: Verdict, minimal: Program) -> str:
        """The corpus file of a family of causes that this minimal program belongs to, or nothing.

        Where a fault has shown with several write operators and nothing else changed, it is not about the operator:
        the next one is the same fault.
        """
        key = (_coarse(bucket(backend, lane, verdict)), _apart_from_writes(feature_set(minimal)))
        writes, entry = self.families.get(key, (set(), ""))
        return entry if not has_message(verdict) and len(writes) >= _FAMILY else ""

    def explanation(self, backend: str, lane: str, verdict: Verdict, program: Program) -> str:
        """The known cause that an unshrunk finding holds or probably holds, or nothing."""
        if has_message(verdict):
            cause = str(bucket(backend, lane, verdict))
            return cause if cause in self.entries else ""
        have = feature_set(program)
        for wanted, cause in self.minimal.get(_coarse(bucket(backend, lane, verdict)), ()):
            if wanted <= have:
                return cause
        return ""
