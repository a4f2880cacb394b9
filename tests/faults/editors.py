"""Concurrent editors of the same few rows: by forms, the timetable, imports and the API.

Each adds a word or moves a session, based on the version it read. No confirmed change may be lost.
"""

import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from urllib.parse import urlencode

from tests.faults.serving import Response
from tests.processes import HOST
from tests.schedule.form_data import fields_of

FORM = "application/x-www-form-urlencoded"
TIMEOUT_SECONDS = 60.0
BUTTONS = ("_continue", "_addanother", "_saveasnew", "_check", "_shift", "_show", "_reset")


@dataclass(slots=True)
class Results:
    """Changes that the site confirmed, and counts of its responses."""

    words: list[tuple[int, str]] = field(default_factory=list)
    moves: list[tuple[int, str]] = field(default_factory=list)
    imports: list[str] = field(default_factory=list)
    responses: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0


@dataclass(slots=True)
class SharedRows:
    """Rows that editors edit: papers, by primary key, with their addresses; sessions; an edition; a file."""

    papers: dict[int, str]
    sessions: list[int]
    edition: int
    file: str
    day: str


class Editor:
    """An editor with their own session and token."""

    def __init__(self, port: int, number: int, cookie: str, token: str, shared_rows: SharedRows) -> None:
        self.port, self.name, self.token, self.rows = port, f"e{number}", token, shared_rows
        self.number = number
        self.cookies = SimpleCookie(cookie)
        self.random, self.results, self.count = random.Random(number), Results(), 0

    def work(self, kind: str, deadline: float) -> None:
        """Repeat one kind of work until `deadline`, in seconds of the monotonic clock."""
        while time.monotonic() < deadline:
            self.count += 1
            getattr(self, kind)()

    def request(
        self, method: str, path: str, body: str = "", content_type: str = FORM, **headers: str
    ) -> Response:
        connection = HTTPConnection(HOST, self.port, timeout=TIMEOUT_SECONDS)
        started = time.monotonic()
        cookies = "; ".join(f"{name}={cookie.value}" for name, cookie in self.cookies.items())
        all_headers = {"Content-Type": content_type, **({"Cookie": cookies} if cookies else {}), **headers}
        try:
            connection.request(method, path, body.encode() or None, all_headers)
            http_response = connection.getresponse()
            for value in http_response.headers.get_all("Set-Cookie", []):
                self.cookies.load(value)
            text = http_response.read().decode(errors="replace")
            seconds = time.monotonic() - started
            response = Response(
                http_response.status,
                {header.lower(): header_value for header, header_value in http_response.getheaders()},
                text,
                seconds,
            )
        except OSError as error:
            response = Response(0, {}, repr(error), time.monotonic() - started)
        finally:
            connection.close()
        self.results.responses[f"{method} {response.status}"] += 1
        self.results.slowest = max(self.results.slowest, response.seconds)
        return response

    def new_word(self) -> str:
        return f"w{self.name}x{self.count}z"

    def form(self) -> None:
        """Add a word to the abstract of a paper in its form."""
        paper_id = self.random.choice([*self.rows.papers])
        path, word = f"/admin/papers/paper/{paper_id}/change/", self.new_word()
        response = self.request("GET", path)
        if response.status != 200:
            return
        data = {
            name: value for name, value in fields_of(response, "paper_form").items() if name not in BUTTONS
        }
        data["abstract"] = f"{data['abstract']} {word}"
        if self.request("POST", path, urlencode(data)).status == 302:
            self.results.words.append((paper_id, word))

    def api(self) -> None:
        """Add a word to the abstract of a paper over the API."""
        paper_id = self.random.choice([*self.rows.papers])
        path, word = f"/api/v1/papers/{self.rows.papers[paper_id]}/", self.new_word()
        headers = {"Authorization": f"Bearer {self.token}"}
        response = self.request("GET", path, **headers)
        if response.status != 200:
            return
        body = json.dumps({"abstract": f"{json.loads(response.text)['abstract']} {word}"})
        headers["If-Match"] = response.headers["etag"]
        if self.request("PATCH", path, body, "application/json", **headers).status == 200:
            self.results.words.append((paper_id, word))

    def timetable(self) -> None:
        """Move a session to another minute in the editor of the timetable."""
        path = f"/admin/schedule/session/timetable/?edition={self.rows.edition}&day={self.rows.day}"
        response = self.request("GET", path)
        if response.status != 200:
            return
        data, session_id = fields_of(response), self.random.choice(self.rows.sessions)
        # No two editors choose the same minute, so each saved move is a change.
        minute = f"{self.random.randrange(0, 52, 4) + self.number // 5 % 4:02}"
        start, end = (
            f"{data[f's{session_id}-start'][:2]}:{minute}",
            f"{data[f's{session_id}-end'][:2]}:{minute}",
        )
        if data[f"s{session_id}-start"] == start:
            return
        data = {name: value for name, value in data.items() if name not in BUTTONS}
        data |= {f"s{session_id}-start": start, f"s{session_id}-end": end, "_save": "1"}
        if self.request("POST", path, urlencode(data)).status == 302:
            self.results.moves.append((session_id, start))

    def importing(self) -> None:
        """Import a file that gives each paper the same summary."""
        word = self.new_word()
        path = "/admin/exchange/importjob/add/"
        if self.request("GET", path).status != 200:
            return
        token = {"csrfmiddlewaretoken": self.cookies["csrftoken"].value}
        fields = {"edition": self.rows.edition, "format": "", **token}
        lines = [
            f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}'
            for name, value in fields.items()
        ]
        content = self.rows.file.replace("SUMMARY", word)
        file_headers = 'form-data; name="sources"; filename="p.json"\r\nContent-Type: application/json'
        body = "\r\n".join(
            [*lines, f"--b\r\nContent-Disposition: {file_headers}\r\n\r\n{content}", "--b--", ""]
        )
        response = self.request("POST", path, body, "multipart/form-data; boundary=b")
        if response.status != 302:
            return
        data = urlencode({"do": "confirm", **token})
        if self.request("POST", response.headers["location"], data).status == 302:
            self.results.imports.append(word)
