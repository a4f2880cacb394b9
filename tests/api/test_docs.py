"""The API's documentation page and docs/api.md: all resources, and examples that match the demo."""

import json
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from api.documentation import DEMO_URL, chapters, reading_examples, writing_examples
from api.schema import CODES
from api.shapes import RESOURCES
from papers.models import Paper
from tests.api.writing import Writer
from tests.demo.programs import import_demo
from tests.reading import read

TEXT = (Path(settings.BASE_DIR) / "docs/api.md").read_text("utf-8")

pytestmark = pytest.mark.django_db


def test_examples_are_what_the_demo_answers(client: Client) -> None:
    import_demo(2021)

    for example in reading_examples():
        response = client.get(example["path"])
        answer = response.content.decode().replace(settings.SITE_URL, DEMO_URL)
        # A cursor contains the primary key of a row, which differs between databases.
        found, written = json.loads(answer), example["answer"]
        assert bool(found.pop("next", None)) == bool(written.pop("next", None))
        assert (response.status_code, found) == (example["status"], written)


def test_examples_stand_on_the_page(client: Client) -> None:
    page = read(client, "/api/docs/")

    for example in reading_examples():
        assert " ".join(example["command"].split()) in page.texts("pre")
        assert " ".join(example["text"].split()) in page.texts("pre")


def test_docs_show_examples_of_the_page() -> None:
    blocks = re.findall(r"```(?:json)?\n(.*?)\n```", TEXT, re.DOTALL)
    known = {one["command"] for one in (*reading_examples(), *writing_examples())}
    known |= {one["text"] for one in reading_examples()}

    assert [block for block in blocks if block not in known and not block.startswith("TOKEN=")] == []
    assert len(blocks) > 6


def test_changes_on_the_page_are_what_the_demo_takes(client: Client) -> None:
    import_demo(2021)
    writer = Writer()
    page = read(client, "/api/docs/")

    for one in writing_examples():
        path, method = one["path"].removeprefix("/api/v1/"), one["method"].lower()
        version = {} if method == "post" else {"HTTP_IF_MATCH": writer.get(path)["ETag"]}
        writer.ask(method, path, one["body"], one["status"], **version)
        assert " ".join(one["command"].split()) in page.texts("pre")
    assert Paper.objects.filter(uid="late-paper").count() == 0


def test_page_says_what_can_be_written_and_what_refusals_mean(client: Client) -> None:
    page = read(client, "/api/docs/")
    written = {chapter["name"]: {line["name"] for line in chapter["written"]} for chapter in chapters()}

    assert {"title", "authors", "status"} <= written["papers"]
    assert sorted(name for name in written if not written[name]) == ["conferences", "editions", "releases"]
    assert set(map(str, CODES)) <= set(page.texts("dt"))


def test_every_resource_is_on_the_page_and_in_the_docs(client: Client) -> None:
    page = read(client, "/api/docs/")

    assert sorted(RESOURCES) == [chapter["name"] for chapter in chapters()]
    assert {f"2 {name}" for name in RESOURCES} <= set(page.outline)
    assert [name for name in RESOURCES if f"| `{name}` |" not in TEXT] == []


def test_page_names_every_parameter_and_field(client: Client) -> None:
    names = {code.text for code in read(client, "/api/docs/").all("code")}

    for chapter in chapters():
        assert {line["name"] for line in (*chapter["parameters"], *chapter["fields"])} <= names
        assert len(chapter["addresses"]) == (3 if chapter["name"] == "pages" else 2)
    papers = next(chapter for chapter in chapters() if chapter["name"] == "papers")
    assert {line["name"]: line["values"] for line in papers["parameters"]}["kind"].startswith(
        "oral, spotlight"
    )
    assert [name for name, _lines in papers["parts"]] == ["authors", "awards"]
