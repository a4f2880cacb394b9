"""The API's documentation page and docs/api.md: all resources, and examples that match the demo."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from api.documentation import DEMO_URL, chapters, reading_examples, writing_examples
from api.schema import CODES
from api.shapes import RESOURCES
from papers.models import Paper
from tests.api.writing import Writer
from tests.demo.programs import import_demo
from tests.html_pages import read

TEXT = (Path(settings.BASE_DIR) / "docs/api.md").read_text("utf-8")

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def _demo(made_once: Callable[..., Any]) -> None:
    made_once(lambda: import_demo(2021))


@pytest.mark.usefixtures("_demo")
def test_reading_examples_match_the_responses_of_the_demo(client: Client) -> None:
    for example in reading_examples():
        response = client.get(example["path"])
        text = response.content.decode().replace(settings.SITE_URL, DEMO_URL)
        # A cursor contains the primary key of a row, which differs between databases.
        body, example_body = json.loads(text), example["answer"]
        assert ("as_of" in body) == ("as_of" in example_body)
        body.pop("as_of", None), example_body.pop("as_of", None)
        assert bool(body.pop("next", None)) == bool(example_body.pop("next", None))
        assert (response.status_code, body) == (example["status"], example_body)


def test_page_shows_the_reading_examples(client: Client) -> None:
    page = read(client, "/api/docs/")

    for example in reading_examples():
        assert " ".join(example["command"].split()) in page.texts("pre")
        assert " ".join(example["text"].split()) in page.texts("pre")


def test_docs_contain_only_examples_of_the_page() -> None:
    blocks = re.findall(r"```(?:json)?\n(.*?)\n```", TEXT, re.DOTALL)
    page_examples = {example["command"] for example in (*reading_examples(), *writing_examples())}
    page_examples |= {example["text"] for example in reading_examples()}

    assert [block for block in blocks if block not in page_examples and not block.startswith("TOKEN=")] == []
    assert len(blocks) > 6


@pytest.mark.usefixtures("_demo")
def test_writing_examples_work_with_the_demo(client: Client) -> None:
    writer = Writer()
    page = read(client, "/api/docs/")

    for example in writing_examples():
        path, method = example["path"].removeprefix("/api/v1/"), example["method"].lower()
        version = {} if method == "post" else {"HTTP_IF_MATCH": writer.get(path)["ETag"]}
        writer.request(method, path, example["body"], example["status"], **version)
        assert " ".join(example["command"].split()) in page.texts("pre")
    assert Paper.objects.filter(uid="late-paper").count() == 0


def test_page_lists_writable_fields_and_error_codes(client: Client) -> None:
    page = read(client, "/api/docs/")
    writable = {chapter["name"]: {line["name"] for line in chapter["written"]} for chapter in chapters()}

    assert {"title", "authors", "status"} <= writable["papers"]
    assert sorted(name for name in writable if not writable[name]) == ["conferences", "editions"]
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
