"""Fake site of OpenReview notes, from which programs and photos are fetched."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from exchange.jobs.fetch import FetchPolicy
from tests.exchange.formats.test_openreview import note

NOTES = [note(f"n{number}") for number in range(5)]


class FakeSite:
    """HTTP server of OpenReview notes. It first sends `responses`: tuples of status, headers and body."""

    def __init__(self) -> None:
        self.responses: list[tuple[int, dict[str, str], bytes | None]] = []
        self.requested_paths: list[str] = []
        self.tokens: list[str | None] = []
        self.waits: list[float] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.requested_paths.append(self.path)
                site.tokens.append(self.headers["Authorization"])
                status, headers, body = site.responses.pop(0) if site.responses else (200, {}, None)
                content = site.page(self.path) if body is None else body
                self.send_response(status)
                for name, value in {"Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/notes?content.venueid=X&limit=2"
        self.policy = FetchPolicy(
            frozenset(["127.0.0.1"]), is_local=True, timeout=0.5, wait=self.waits.append, token="secret"
        )

    def page(self, path: str) -> bytes:
        query = parse_qs(urlsplit(path).query)
        offset, limit = int(query["offset"][0]), int(query["limit"][0])
        return json.dumps({"notes": NOTES[offset : offset + limit], "count": len(NOTES)}).encode()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.server.shutdown()
        self.server.server_close()
