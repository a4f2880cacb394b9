"""The order of authors is the same on all pages and in all files."""

import json
import re

import pytest
from django.test import Client

from papers.models import Paper
from tests import factories as make
from tests.posted import address, formset
from tests.reading import read

pytestmark = pytest.mark.django_db

ORDER = ["Mia Moe", "Zed Zu", "Eve Ek"]


@pytest.fixture
def paper(admin_client: Client) -> Paper:
    """Create a paper by Zed, Abe and Mia; swap Zed and Mia, and replace Abe by Eve, in one POST."""
    paper = make.make_paper(make.make_edition(), ["Zed Zu", "Abe Ba", "Mia Moe"], title="One", uid="p1")
    stored = [
        {"id": row.pk, "paper": paper.pk, "person": row.person_id, "name": row.name, "affiliations": ""}
        for row in paper.authorships.order_by("position")
    ]
    stored[0] |= {"position": 3}
    stored[1] |= {"position": 2, "DELETE": "on"}
    stored[2] |= {"position": 1}
    new = {"paper": paper.pk, "person": make.make_person("Eve Ek").pk, "affiliations": ""}
    sent = {"title": "One", "abstract": "", "status": "published"}
    parts = [formset("authorships", stored, [new]), formset("materials"), formset("presentations")]
    for part in parts:
        sent |= part
    assert admin_client.post(address(paper, "change"), sent).status_code == 302
    return paper


def body(client: Client, path: str) -> str:
    answer = client.get(path)
    return b"".join(answer).decode() if answer.streaming else answer.text


def found(text: str) -> list[str]:
    """Return the authors' family names in order of their first occurrence, each once."""
    return list(dict.fromkeys(re.findall(r"\b(Moe|Zu|Ek|Ba)\b", text)))


def test_trap_7_order_is_the_same_in_every_output(client: Client, paper: Paper) -> None:
    page = read(client, paper.get_absolute_url())
    answer = client.get("/api/v1/papers/2021/p1/").json()
    program = json.loads(body(client, "/2021/downloads/program_json/2021.json"))
    files = ["papers/p1.bib", "papers/p1.ris", "downloads/csv/2021-authors.csv", "papers.bib"]

    assert list(paper.authorships.values_list("position", "name")) == list(enumerate(ORDER, start=1))
    assert [meta.attributes["content"] for meta in page.all("meta", name="citation_author")] == ORDER
    assert [author["name"] for author in answer["authors"]] == ORDER
    assert found(json.dumps(program["papers"])) == ["Moe", "Zu", "Ek"]
    assert [found(body(client, f"/2021/{name}")) for name in files] == [["Moe", "Zu", "Ek"]] * len(files)
