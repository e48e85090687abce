"""The page's port: free, taken by another program, or served by this one already."""

from __future__ import annotations

import http.server
import socket
import threading
from collections.abc import Iterator

import pytest

from nongda.errors import UsageError
from nongda.ui import server


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind((server.HOST, 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def web_page(port: int) -> Iterator[int]:
    """Another program on the port; its page holds the word nongda-abc."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):  # noqa: N802
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'<meta content="nongda-abc">')

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer((server.HOST, port), Page) as other:
        thread = threading.Thread(target=other.serve_forever)
        thread.start()
        yield port
        other.shutdown()
        thread.join()


def test_a_free_port_is_taken_as_it_is(port: int):
    assert server.choose_port(port, "nongda-abc") == (port, False)


def test_a_page_of_the_same_data_folder_is_recognised(web_page: int):
    assert server.choose_port(web_page, "nongda-abc") == (web_page, True)


def test_a_page_of_another_program_makes_room(web_page: int):
    chosen, ours = server.choose_port(web_page, "nongda-other")
    assert chosen > web_page and not ours


def test_a_program_that_does_not_speak_http_makes_room(port: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(server, "ANSWER_SECONDS", 0.2)
    with socket.socket() as mute:
        mute.bind((server.HOST, port))
        mute.listen()
        chosen, ours = server.choose_port(port, "nongda-abc")
    assert chosen > port and not ours


def test_no_port_at_all_is_one_sentence(web_page: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(server, "PORTS_TRIED", 1)
    with pytest.raises(UsageError, match=f"端口 {web_page} 到 {web_page} 都被占用"):
        server.choose_port(web_page, "nongda-other")
