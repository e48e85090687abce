"""What keeps the page on this machine: its port, and the refusal of every address that hands out files."""

from __future__ import annotations

import http.client
import socket
import sys

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from nongda.errors import UsageError

HOST = "127.0.0.1"
PORTS_TRIED = 100
ANSWER_SECONDS = 3.0  # a page on this machine answers in milliseconds
PAGE_LIMIT = 2_000_000  # bytes read of a foreign page before giving up on it


class NoFiles:
    """Refuses the addresses by which Gradio hands out files or fetches others: the page needs none."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] == "http" and any(part in path for part in ("file=", "/file/", "proxy=")):
            await PlainTextResponse("Not found", status_code=404)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def choose_port(wanted: int, mark: str) -> tuple[int, bool]:
    """Return a port and whether a page holding `mark` is already served there; else the next free port.

    Raises UsageError when no port is free.
    """
    for port in range(wanted, min(wanted + PORTS_TRIED, 65536)):
        if _is_free(port):
            return port, False
        if mark in _served_at(port):
            return port, True
    last = wanted + PORTS_TRIED - 1
    raise UsageError(f"端口 {wanted} 到 {last} 都被占用：请关闭一些程序，或用 --port 指定别的端口")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        if sys.platform != "win32":  # there the option would let two programs share the port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _served_at(port: int) -> str:
    """Return the page another program serves on this port; empty where it does not speak HTTP in time."""
    connection = http.client.HTTPConnection(HOST, port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", "/")
        return connection.getresponse().read(PAGE_LIMIT).decode("utf-8", errors="replace")
    except (OSError, http.client.HTTPException):
        return ""
    finally:
        connection.close()
