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

from tests.faults.serving import Answer
from tests.processes import HOST
from tests.schedule.form_data import fields_of

FORM = "application/x-www-form-urlencoded"
PATIENCE = 60.0
# Status codes of forms and of the API after an edit conflict: the change was not saved.
REFUSED = {200, 409, 412, 428}
BUTTONS = ("_continue", "_addanother", "_saveasnew", "_check", "_shift", "_show", "_reset")


@dataclass(slots=True)
class Taken:
    """Changes that the site confirmed, and counts of its responses."""

    words: list[tuple[int, str]] = field(default_factory=list)
    moves: list[tuple[int, str]] = field(default_factory=list)
    imports: list[str] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0


@dataclass(slots=True)
class Desk:
    """Rows that editors edit: papers, by primary key, with their addresses; sessions; an edition; a file."""

    papers: dict[int, str]
    sessions: list[int]
    edition: int
    file: str
    days: str


class Editor:
    """An editor with their own session and token."""

    def __init__(self, port: int, number: int, cookie: str, token: str, desk: Desk) -> None:
        self.port, self.name, self.token, self.desk = port, f"e{number}", token, desk
        self.number = number
        self.cookies = SimpleCookie(cookie)
        self.chance, self.taken, self.count = random.Random(number), Taken(), 0

    def work(self, kind: str, until: float) -> None:
        """Repeat one kind of work until `until`, in seconds of the monotonic clock."""
        while time.monotonic() < until:
            self.count += 1
            getattr(self, kind)()

    def ask(self, method: str, path: str, body: str = "", kind: str = FORM, **headers: str) -> Answer:
        connection = HTTPConnection(HOST, self.port, timeout=PATIENCE)
        began = time.monotonic()
        cookies = "; ".join(f"{name}={one.value}" for name, one in self.cookies.items())
        sent = {"Content-Type": kind, **({"Cookie": cookies} if cookies else {}), **headers}
        try:
            connection.request(method, path, body.encode() or None, sent)
            response = connection.getresponse()
            for value in response.headers.get_all("Set-Cookie", []):
                self.cookies.load(value)
            text = response.read().decode(errors="replace")
            took = time.monotonic() - began
            answer = Answer(response.status, {n.lower(): v for n, v in response.getheaders()}, text, took)
        except OSError as error:
            answer = Answer(0, {}, repr(error), time.monotonic() - began)
        finally:
            connection.close()
        self.taken.answers[f"{method} {answer.status}"] += 1
        self.taken.slowest = max(self.taken.slowest, answer.seconds)
        return answer

    def word(self) -> str:
        return f"w{self.name}x{self.count}z"

    def form(self) -> None:
        """Add a word to the abstract of a paper in its form."""
        key = self.chance.choice([*self.desk.papers])
        path, word = f"/admin/papers/paper/{key}/change/", self.word()
        page = self.ask("GET", path)
        if page.status != 200:
            return
        sent = {name: value for name, value in fields_of(page, "paper_form").items() if name not in BUTTONS}
        sent["abstract"] = f"{sent['abstract']} {word}"
        if self.ask("POST", path, urlencode(sent)).status == 302:
            self.taken.words.append((key, word))

    def api(self) -> None:
        """Add a word to the abstract of a paper over the API."""
        key = self.chance.choice([*self.desk.papers])
        path, word = f"/api/v1/papers/{self.desk.papers[key]}/", self.word()
        sent = {"Authorization": f"Bearer {self.token}"}
        page = self.ask("GET", path, **sent)
        if page.status != 200:
            return
        body = json.dumps({"abstract": f"{json.loads(page.text)['abstract']} {word}"})
        sent["If-Match"] = page.headers["etag"]
        if self.ask("PATCH", path, body, "application/json", **sent).status == 200:
            self.taken.words.append((key, word))

    def timetable(self) -> None:
        """Move a session to another minute in the editor of the timetable."""
        path = f"/admin/schedule/session/timetable/?edition={self.desk.edition}&day={self.desk.days}"
        page = self.ask("GET", path)
        if page.status != 200:
            return
        sent, key = fields_of(page), self.chance.choice(self.desk.sessions)
        # No two editors choose the same minute, so each saved move is a change.
        minute = f"{self.chance.randrange(0, 52, 4) + self.number // 5 % 4:02}"
        start, end = f"{sent[f's{key}-start'][:2]}:{minute}", f"{sent[f's{key}-end'][:2]}:{minute}"
        if sent[f"s{key}-start"] == start:
            return
        sent = {name: value for name, value in sent.items() if name not in BUTTONS}
        sent |= {f"s{key}-start": start, f"s{key}-end": end, "_save": "1"}
        if self.ask("POST", path, urlencode(sent)).status == 302:
            self.taken.moves.append((key, start))

    def importing(self) -> None:
        """Import a file that gives each paper the same summary."""
        word = self.word()
        path = "/admin/exchange/importjob/add/"
        if self.ask("GET", path).status != 200:
            return
        token = {"csrfmiddlewaretoken": self.cookies["csrftoken"].value}
        parts = {"edition": self.desk.edition, "format": "", **token}
        lines = [f'--b\r\nContent-Disposition: form-data; name="{n}"\r\n\r\n{v}' for n, v in parts.items()]
        content = self.desk.file.replace("SUMMARY", word)
        name = 'form-data; name="sources"; filename="p.json"\r\nContent-Type: application/json'
        body = "\r\n".join([*lines, f"--b\r\nContent-Disposition: {name}\r\n\r\n{content}", "--b--", ""])
        up = self.ask("POST", path, body, "multipart/form-data; boundary=b")
        if up.status != 302:
            return
        sent = urlencode({"do": "confirm", **token})
        if self.ask("POST", up.headers["location"], sent).status == 302:
            self.taken.imports.append(word)
