"""The order of authors is the same on all pages and in all files."""

import json
import re

import pytest
from django.test import Client

from papers.models import Paper
from tests import factories as make
from tests.admin_forms import admin_url, formset
from tests.html_pages import read

pytestmark = pytest.mark.django_db

ORDER = ["Mia Moe", "Zed Zu", "Eve Ek"]


@pytest.fixture
def paper(admin_client: Client) -> Paper:
    """Create a paper by Zed, Abe and Mia; swap Zed and Mia, and replace Abe by Eve, in one POST."""
    paper = make.make_paper(make.make_edition(), ["Zed Zu", "Abe Ba", "Mia Moe"], title="One", uid="p1")
    stored_rows = [
        {"id": row.pk, "paper": paper.pk, "person": row.person_id, "name": row.name, "affiliations": ""}
        for row in paper.authorships.order_by("position")
    ]
    stored_rows[0] |= {"position": 3}
    stored_rows[1] |= {"position": 2, "DELETE": "on"}
    stored_rows[2] |= {"position": 1}
    new_row = {"paper": paper.pk, "person": make.make_person("Eve Ek").pk, "affiliations": ""}
    form_data = {"title": "One", "abstract": "", "status": "published"}
    formsets = [
        formset("authorships", stored_rows, [new_row]),
        formset("materials"),
        formset("presentations"),
    ]
    for data in formsets:
        form_data |= data
    assert admin_client.post(admin_url(paper, "change"), form_data).status_code == 302
    return paper


def response_body(client: Client, path: str) -> str:
    response = client.get(path)
    return b"".join(response).decode() if response.streaming else response.text


def family_names(text: str) -> list[str]:
    """Return the authors' family names in order of their first occurrence, each once."""
    return list(dict.fromkeys(re.findall(r"\b(Moe|Zu|Ek|Ba)\b", text)))


def test_trap_7_author_order_is_the_same_in_every_output(client: Client, paper: Paper) -> None:
    page = read(client, paper.get_absolute_url())
    api_paper = client.get("/api/v1/papers/2021/p1/").json()
    program = json.loads(response_body(client, "/2021/downloads/program_json/2021.json"))
    files = ["papers/p1.bib", "papers/p1.ris", "downloads/csv/2021-authors.csv", "papers.bib"]

    assert list(paper.authorships.values_list("position", "name")) == list(enumerate(ORDER, start=1))
    assert [tag.attributes["content"] for tag in page.all("meta", name="citation_author")] == ORDER
    assert [author["name"] for author in api_paper["authors"]] == ORDER
    assert family_names(json.dumps(program["papers"])) == ["Moe", "Zu", "Ek"]
    assert [family_names(response_body(client, f"/2021/{name}")) for name in files] == [
        ["Moe", "Zu", "Ek"]
    ] * len(files)
