"""The HTTP interface of a model: routes, limits of size and time, errors as JSON.

Calls run in a bounded number of threads. A call cannot be stopped: one that takes longer than its time limit is
answered with an error, and keeps its thread until it ends.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from autograph.errors import AutographError
from autograph.serving import bodies
from autograph.serving.model import Model
from autograph.serving.values import InputError

LOG = logging.getLogger("autograph.serving")
_JSON = "application/json"
VERSION = "1"       # of the model, which has only one


@dataclass(frozen=True)
class Limits:
    """Limits of a service.

    Attributes:
        bytes: of the body of a request.
        seconds: for reading a body, and for a call.
        threads: calls that run at the same time.
        waiting: calls that may wait for a thread; further ones are refused.
        bodies: bytes of all bodies at the same time.
    """

    bytes: int = 64 * 2**20
    seconds: float = 30.0
    threads: int = 2
    waiting: int = 1000
    bodies: int = 1024 * 2**20


class Service:
    """Answers requests to one model.

    Attributes:
        is_stopping: whether the server is about to end: each answer closes its connection.
        begun, answered: numbers of calls.
        calls: those that run or wait for a thread.
    """

    def __init__(self, model: Model, name: str, limits: Limits) -> None:
        self.model = model
        self.name = name
        self.limits = limits
        self.is_stopping = False
        self.begun = self.answered = 0
        self.calls: set[Future[Any]] = set()
        self._bytes = 0
        self._threads = ThreadPoolExecutor(limits.threads, "autograph-serve")

    def app(self) -> Callable[..., Awaitable[None]]:
        """The ASGI application."""
        paths = ["/v1/models/{name}", "/v1/models/{name}/versions/{version}"]
        routes = [Route("/healthz", self.health)]
        for path in paths:
            routes.append(Route(f"{path}:predict", self.predict, methods=["POST", "GET"]))
            routes.append(Route(f"{path}/metadata", self.metadata))
            routes.append(Route(path, self.status))
        handlers: Any = {HTTPException: _refused, Exception: _failed}
        inner = Starlette(routes=routes, exception_handlers=handlers)

        async def app(scope: Any, receive: Any, send: Any) -> None:
            await inner(scope, receive, _closing(send) if self.is_stopping and scope["type"] == "http" else send)

        return app

    # Routes -----------------------------------------------------------------------------------------------------------

    async def health(self, request: Request) -> Response:
        """Whether requests may be sent here: 200, or 503 while the server stops."""
        status = "stopping" if self.is_stopping else "ok"
        return _json({"status": status}, 503 if self.is_stopping else 200)

    async def status(self, request: Request) -> Response:
        """The status of the model."""
        self._check(request)
        state = {"version": VERSION, "state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}
        return _json({"model_version_status": [state]})

    async def metadata(self, request: Request) -> Response:
        """The signatures of the model."""
        self._check(request)
        signatures = {"signature_def": {"signature_def": self.model.metadata()}}
        spec = {"name": self.name, "signature_name": "", "version": VERSION}
        return _json({"model_spec": spec, "metadata": signatures})

    async def predict(self, request: Request) -> Response:
        """The results of a function for the inputs in the body."""
        self._check(request)
        if request.method != "POST":
            raise HTTPException(405, "send a POST request with the inputs", {"allow": "POST"})
        size = self._reserve(request)
        try:
            body = await self._body(request, size)
            is_npy = any(kind in request.headers.get("accept", "") for kind in (bodies.NPY, "octet-stream"))
            signature = request.query_params.get("signature_name")
            self.begun += 1
            response = await self._run(lambda: self._answer(body, signature, is_npy))
            self.answered += 1
            return response
        finally:
            self._bytes -= size

    # Their parts ------------------------------------------------------------------------------------------------------

    def _check(self, request: Request) -> None:
        """Check that a path is that of the model."""
        name, version = request.path_params["name"], request.path_params.get("version", VERSION)
        if (name, version) != (self.name, VERSION):
            raise HTTPException(404, f"there is no model {name!r} of version {version}; there is: {self.name!r}")

    def _reserve(self, request: Request) -> int:
        """The size of a body, or the most that it may have, which is counted from now on."""
        given = request.headers.get("content-length")
        size = self.limits.bytes if given is None else int(given)
        if size > self.limits.bytes:
            raise HTTPException(413, f"the body has {size:,} bytes, and may have {self.limits.bytes:,} at most")
        if self._bytes + size > self.limits.bodies:
            raise HTTPException(503, "too many requests at the same time", {"retry-after": "1"})
        self._bytes += size
        return size

    async def _body(self, request: Request, size: int) -> bytearray:
        """The body, in memory of its own that a call may change."""
        body = bytearray()

        async def read() -> None:
            async for chunk in request.stream():
                body.extend(chunk)
                if len(body) > size:
                    raise HTTPException(413, f"the body has more than the {size:,} bytes that it may have")

        try:
            await asyncio.wait_for(read(), self.limits.seconds)
        except asyncio.TimeoutError:
            raise HTTPException(408, f"the body did not arrive in {self.limits.seconds:g} s") from None
        except ClientDisconnect:
            raise HTTPException(400, "the body did not arrive") from None
        return body

    async def _run(self, work: Callable[[], Response]) -> Response:
        """Run some work in a thread."""
        if len(self.calls) >= self.limits.threads + self.limits.waiting:
            raise HTTPException(503, "too many requests at the same time", {"retry-after": "1"})
        call = self._threads.submit(work)
        self.calls.add(call)
        call.add_done_callback(self.calls.discard)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(call), self.limits.seconds)
        except asyncio.TimeoutError:
            raise HTTPException(504, f"the call did not end in {self.limits.seconds:g} s") from None

    def _answer(self, body: bytearray, signature: str | None, is_npy: bool) -> Response:
        """The response to a body; runs in a thread."""
        try:
            query = bodies.query(self.model, body, signature)
        except LookupError as error:
            return _error(404, str(error.args[0]))
        except InputError as error:
            return _error(400, str(error))
        try:
            result = self.model.call(query.function, query.given, query.count is not None)
            if is_npy:
                return Response(bodies.npy(result), media_type=bodies.NPY)
            return Response(bodies.answer(result, query.count), media_type=_JSON)
        except InputError as error:
            return _error(400, str(error))
        except (MemoryError, RecursionError) as error:
            return _error(500, f"the call failed: {type(error).__name__}")
        except AutographError as error:     # without the place in a file
            return _error(400, error.message)
        except Exception as error:      # of the user's program, for these inputs
            return _error(400, f"{type(error).__name__}: {error}")


def _json(document: Any, status: int = 200) -> Response:
    return Response(json.dumps(document), status, media_type=_JSON)


def _error(status: int, message: str, headers: Any = None) -> Response:
    return Response(json.dumps({"error": message}), status, headers, _JSON)


async def _refused(request: Request, error: Any) -> Response:
    return _error(error.status_code, error.detail, error.headers)


async def _failed(request: Request, error: Exception) -> Response:
    return _error(500, "internal error")    # which the server logs


def _closing(send: Any) -> Any:
    """Let an answer close its connection, so that the client opens the next one elsewhere."""

    async def wrapped(message: Any) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), (b"connection", b"close")]
        await send(message)

    return wrapped
