"""Deadlines for the other side: a trickle, or a reader that never reads, holds nothing for ever.

uvicorn bounds how long a connection may be idle between requests, not how long a request may
take to arrive or an answer to be taken; an application hears of a request only after its
headers. So the clocks sit in the protocol, below the application.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS_WITHIN = 10.0
"""Seconds from the connection, or from a request's first byte, to the end of its headers."""
BODY_BYTES_A_SECOND = 1024
"""The slowest body that is waited for: slower than any network one would train over."""
TAKEN_WITHIN = 60.0
"""Seconds for which a full send buffer may stand still."""
ENDLESS = "sickbay.endless"
"""Set in the scope of a request whose answer has no end of its own: it ends with the server."""
_TICK = 5.0
_ARRIVED = {h11.DONE, h11.MUST_CLOSE, h11.CLOSED, h11.ERROR}


class DeadlineProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, with clocks on both directions."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._arriving = _Clock(self.loop)
        self._taking = _Clock(self.loop)
        self._received = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Start the clock at once: a connection that says nothing is closed as well."""
        super().connection_made(transport)
        self._arriving.start(HEADERS_WITHIN, self._look)

    def data_received(self, data: bytes) -> None:
        """Take bytes; a new request starts the clock, a whole one stops it."""
        self._received += len(data)
        super().data_received(data)
        if self.conn.their_state in _ARRIVED:
            self._arriving.stop()
        elif not self._arriving.runs:
            self._arriving.start(HEADERS_WITHIN, self._look)

    def pause_writing(self) -> None:
        """The send buffer is full: from here on it must move."""
        super().pause_writing()
        self._taking.start(TAKEN_WITHIN, self.transport.abort)

    def resume_writing(self) -> None:
        """It moved."""
        super().resume_writing()
        self._taking.stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clocks."""
        self._arriving.stop()
        self._taking.stop()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Finish what was begun, but do not wait for a stream that never ends."""
        super().shutdown()
        if getattr(self.cycle, "scope", {}).get(ENDLESS):
            self.transport.close()

    def _look(self) -> None:
        """Close, unless a body is on its way that comes fast enough or waits for us."""
        fast = self._received >= BODY_BYTES_A_SECOND * _TICK or self.flow.read_paused
        self._received = 0
        if self.conn.their_state is h11.SEND_BODY and self.conn.our_state is not h11.DONE and fast:
            self._arriving.start(_TICK, self._look)
        elif self.conn.their_state not in _ARRIVED:
            self.transport.close()


class _Clock:
    """One timer that can be started over."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._timer: asyncio.TimerHandle | None = None

    @property
    def runs(self) -> bool:
        """Whether it was started, and neither rang nor was stopped."""
        return self._timer is not None

    def start(self, seconds: float, act: Any) -> None:
        """Ring once after so many seconds."""
        self.stop()
        self._timer = self._loop.call_later(seconds, self._ring, act)

    def stop(self) -> None:
        """Do not ring."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self, act: Any) -> None:
        self._timer = None
        act()
