"""How a worker reports: framed JSON on a pipe, and one shared page that says where it is.

The program under test runs in the process that reports, so what arrives is not believed for arriving. Each job has
a random nonce that heads every frame: a program that scribbles over inherited descriptors breaks the framing, which
is noticed (`Garbage`), and cannot forge a verdict by writing blindly. Nothing after the first bad byte is read.

Verdicts go through the pipe. Where the worker *is* (program, target, stage, since when) goes into a shared page
instead: it changes several times per program, matters only when the worker dies or stalls, and writing it costs a
microsecond and wakes nobody.
"""

from __future__ import annotations

import json
import os
import struct
import time
from dataclasses import dataclass
from mmap import mmap
from typing import Any

NONCE_BYTES = 16
PAGE_BYTES = 4096
MAX_FRAME = 64 << 20
_HEAD = struct.Struct(f"<{NONCE_BYTES}sI")
_PAGE = struct.Struct("<IIId32s")
_NOWHERE = 0  # a fresh page is all zeros


class Garbage(Exception):
    """Bytes that no worker of ours sends. `rescued` holds the whole messages that came before them."""

    def __init__(self, rescued: list[dict[str, Any]], seen: bytes) -> None:
        super().__init__(f"bytes that are not a report: {seen!r}")
        self.rescued = rescued


def encode(nonce: bytes, message: dict[str, Any]) -> bytes:
    body = json.dumps(message, separators=(",", ":")).encode()
    return _HEAD.pack(nonce, len(body)) + body


def write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


class Reader:
    """Takes bytes as they come and gives whole messages."""

    def __init__(self, nonce: bytes) -> None:
        self._nonce = nonce
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Raises Garbage at the first byte that cannot belong to a frame."""
        self._buffer += data
        messages: list[dict[str, Any]] = []
        while len(self._buffer) >= _HEAD.size:
            nonce, length = _HEAD.unpack_from(self._buffer)
            if nonce != self._nonce or length > MAX_FRAME:
                raise Garbage(messages, bytes(self._buffer[:24]))
            end = _HEAD.size + length
            if len(self._buffer) < end:
                break
            body = bytes(self._buffer[_HEAD.size : end])
            del self._buffer[:end]
            try:
                message = json.loads(body)
            except ValueError:
                raise Garbage(messages, body[:24]) from None
            if not isinstance(message, dict):
                raise Garbage(messages, body[:24])
            messages.append(message)
        # Half a header that is already wrong: a few stray bytes would otherwise wait for ever.
        if not self._nonce.startswith(bytes(self._buffer[:NONCE_BYTES])):
            raise Garbage(messages, bytes(self._buffer[:24]))
        return messages


@dataclass(frozen=True, slots=True)
class Place:
    """Where a worker is: indices into its job, the stage, and the monotonic time at which this target began."""

    program: int
    target: int  # REFERENCE for eager's own run
    stage: str
    since: float


REFERENCE = 0xFFFF


def write_place(page: mmap, place: Place) -> None:
    stage = place.stage.encode()[:32]
    _PAGE.pack_into(page, 0, place.program + 1, place.target, len(stage), place.since, stage)


def read_place(fd: int) -> Place | None:
    """None while the worker is outside every program, and for a page that a program has scribbled over."""
    data = os.pread(fd, _PAGE.size, 0)
    if len(data) < _PAGE.size:
        return None
    program, target, length, since, stage = _PAGE.unpack(data)
    if program == _NOWHERE or length > 32 or not 0 <= since <= time.monotonic() + 1:
        return None
    try:
        return Place(program - 1, target, stage[:length].decode(), since)
    except UnicodeDecodeError:
        return None


_STATEMENT_AT = 256
_STATEMENT_BYTES = PAGE_BYTES - _STATEMENT_AT - 4


def write_statement(page: mmap, text: str) -> None:
    """What a drawer is about to run; it stays readable when running it is the drawer's end."""
    data = text.encode(errors="replace")[:_STATEMENT_BYTES]
    page[_STATEMENT_AT : _STATEMENT_AT + 4 + len(data)] = len(data).to_bytes(4, "little") + data


def read_statement(fd: int) -> str:
    data = os.pread(fd, PAGE_BYTES - _STATEMENT_AT, _STATEMENT_AT)
    return data[4 : 4 + int.from_bytes(data[:4], "little")].decode(errors="replace")
