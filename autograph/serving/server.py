"""The server of a service: it listens, and ends after a signal when all requests in flight are answered.

After SIGTERM or SIGINT it goes on for a moment and lets each answer close its connection. Then it closes the
connections that are idle, and waits for those that are not. A second SIGINT ends it at once.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from typing import Any

import uvicorn

from autograph.serving.app import Service

GRACE = 0.5     # seconds in which clients learn that they should connect elsewhere


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
        await super().shutdown(sockets)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        OSError: the address is in use, or is none of this machine.
    """
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    return socket.create_server((host, port), family=family, backlog=2048)


def serve(service: Service, listening: socket.socket) -> None:
    """Answer requests until SIGTERM or SIGINT."""
    for number in (signal.SIGTERM, signal.SIGINT):      # which the server raises again when it has ended
        signal.signal(number, signal.SIG_IGN)
    Server(service).run([listening])
