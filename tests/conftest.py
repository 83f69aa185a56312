"""What every test counts on."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    # A shell starts what runs in its background with SIGINT ignored, and children inherit that; the tests of Ctrl-C
    # start theirs as a terminal does.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
