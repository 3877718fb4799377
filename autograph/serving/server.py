"""The server of a service: it listens, and ends after a signal when all requests in flight are answered.

After SIGTERM or SIGINT it goes on for a moment and lets each answer close its connection. Then it closes the
connections that are idle, and waits for those that are not. A second SIGINT ends it at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import signal
import socket
import struct
import sys
import time
from typing import Any

import uvicorn

from autograph.serving.app import Service

GRACE = 0.5     # seconds in which clients learn that they should connect elsewhere; and then send what they have begun


class Server(uvicorn.Server):
    """Serves until a signal."""

    def __init__(self, service: Service, **options: Any) -> None:
        self.service = service
        most = int(2 * service.limits.seconds) + 5      # a body, and a call
        config = uvicorn.Config(service.app(), log_level="warning", access_log=False, lifespan="off", **options)
        config.timeout_graceful_shutdown = most
        super().__init__(config)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End when all requests in flight are answered."""
        self.service.is_stopping = True
        await asyncio.sleep(GRACE)
        for each in sockets or ():
            ignore_new(each)
        until = time.monotonic() + GRACE
        while self.server_state.connections and time.monotonic() < until:     # they may have sent a request
            await asyncio.sleep(0.02)
        await super().shutdown(sockets)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        OSError: the address is in use, or is none of this machine.
    """
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    return socket.create_server((host, port), family=family, backlog=2048)


def ignore_new(listening: socket.socket) -> None:
    """Let a socket take no new connections; a client tries again after a second, and is refused if it is closed then.

    If it were closed at once, the system would reset connections that are made but not accepted yet, and requests that
    clients have sent on them would be lost. Only Linux can do so, by a filter that drops all packets of the socket.
    """
    if sys.platform == "linux":
        program = ctypes.create_string_buffer(struct.pack("HBBI", _RETURN, 0, 0, 0))
        with contextlib.suppress(OSError):      # in a sandbox without filters, a few connections may be reset
            filter = struct.pack("HL", 1, ctypes.addressof(program))
            listening.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, filter)


_RETURN, _SO_ATTACH_FILTER = 6, 26      # as linux/filter.h and asm/socket.h call them


def serve(service: Service, listening: socket.socket) -> None:
    """Answer requests until SIGTERM or SIGINT."""
    for number in (signal.SIGTERM, signal.SIGINT):      # which the server raises again when it has ended
        signal.signal(number, signal.SIG_IGN)
    Server(service).run([listening])
