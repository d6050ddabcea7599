"""The daemon's HTTP interface: documents as JSON, metrics, health of the daemon itself.

It only reads. Handlers run in the daemon's own task loop and await nothing, so each answer is
of one moment.
"""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from turnout.api import documents, metrics
from turnout.daemon import Snapshot
from turnout.plan import Counters, to_json


def application(snapshot: Callable[[], Snapshot], counters: Callable[[], Counters]) -> Starlette:
    """Everything, for the Unix socket."""

    def rows(name: str, found: Callable[[], tuple[Any, ...]]) -> Route:
        return _json(f"/v1/{name}", lambda: {name: [asdict(row) for row in found()]})

    def plan() -> object:
        held = snapshot().plan
        return to_json(held) if held else None

    return Starlette(
        routes=[
            _json("/v1/status", lambda: asdict(documents.status(snapshot()))),
            rows("services", lambda: documents.services(snapshot(), counters())),
            rows("backends", lambda: documents.backends(snapshot(), counters())),
            rows("counters", lambda: documents.counted(counters())),
            _json("/v1/plan", plan),
            *_public(snapshot, counters),
        ]
    )


def public_application(
    snapshot: Callable[[], Snapshot], counters: Callable[[], Counters]
) -> Starlette:
    """What may be read over TCP: /metrics, /healthz, /readyz."""
    return Starlette(routes=_public(snapshot, counters))


def _public(snapshot: Callable[[], Snapshot], counters: Callable[[], Counters]) -> list[Route]:
    registry = metrics.registry(snapshot, counters)

    async def prometheus(_: Request) -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(_: Request) -> Response:
        now = snapshot()
        if now.applied and now.modes:
            return PlainTextResponse("ready\n")
        return PlainTextResponse("no generation applied yet\n", status_code=503)

    return [
        Route("/metrics", prometheus),
        Route("/healthz", healthz),
        Route("/readyz", readyz),
    ]


def _json(path: str, found: Callable[[], object]) -> Route:
    async def answer(_: Request) -> Response:
        return JSONResponse(found())

    return Route(path, answer)
