"""Help with texts in forms: previews, and warnings that do not prevent saving."""

import re
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from conference.models import Announcement, Edition
from papers.models import Award, Paper
from people.models import Person
from schedule.models import Room, Session
from tests import factories as make
from tests.admin_forms import admin_url, formset

pytestmark = pytest.mark.django_db

TEXT_HELP_URL = "/admin/text/"
BROKEN_FORMULA = r"On $\foo x$"
WARNING = r"The formula “\foo x” cannot be rendered."


def test_preview_renders_text_as_on_the_site(admin_client: Client) -> None:
    block = admin_client.post(TEXT_HELP_URL, {"text": "*One* $x^2$\n\n- two", "kind": "block"}).json()
    line = admin_client.post(TEXT_HELP_URL, {"text": "LOUD WORDS $x^2$", "kind": "line"}).json()

    assert re.sub(r"<math.*?</math>", "MATH", block["html"]).split("\n")[0] == "<p><em>One</em> MATH</p>"
    assert block["advice"] == []
    assert line["html"].startswith("LOUD WORDS <math")
    assert line["advice"] == ["The title is in all caps."]


def test_preview_contains_no_active_content(admin_client: Client) -> None:
    hostile = "<script>x()</script><img src=x onerror=y()> [a](javascript:z())"
    preview = admin_client.post(TEXT_HELP_URL, {"text": hostile, "kind": "block"}).json()

    assert re.findall(r"<(?!/?p\b)[^>]*>", preview["html"]) == []


@pytest.mark.parametrize("visitor", ["anonymous", "reader"])
def test_preview_needs_a_staff_account(visitor: str, client: Client) -> None:
    if visitor == "reader":
        client.force_login(get_user_model().objects.create_user("reader"))
    response = client.post(TEXT_HELP_URL, {"text": "x"})

    assert (response.status_code, response.headers["Location"].split("?")[0]) == (302, "/admin/login/")


def test_preview_needs_a_csrf_token_and_post(admin_user: Any) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(admin_user)

    assert client.post(TEXT_HELP_URL, {"text": "x"}).status_code == 403
    assert client.get(TEXT_HELP_URL).status_code == 405


def test_too_long_text_is_rejected_with_a_message(admin_client: Client) -> None:
    response = admin_client.post(TEXT_HELP_URL, {"text": "x" * 200_001})

    assert response.status_code == 413
    assert response.json() == {"html": "", "advice": ["Longer than 200,000 characters: not shown here."]}


def test_all_texts_of_a_form_are_previewed_on_one_page(admin_client: Client) -> None:
    texts = ["line title Title", "block abstract Abstract", "block lay_summary Lay summary"]
    page = admin_client.post(
        TEXT_HELP_URL, {"_text": texts, "title": BROKEN_FORMULA, "abstract": "*Well* done"}
    )
    sections = [text["label"] for text in page.context["texts"]]

    assert sections == ["Title", "Abstract"]
    assert WARNING in page.text
    assert "<em>Well</em> done" in page.text


def test_field_named_text_is_previewed_on_the_page(admin_client: Client) -> None:
    page = admin_client.post(TEXT_HELP_URL, {"_text": ["block text Text"], "text": "*Well* done"})

    assert "<em>Well</em> done" in page.text


def test_form_shows_warnings_next_to_the_field(admin_client: Client) -> None:
    paper = make.make_paper(make.make_edition(), title=BROKEN_FORMULA)
    page = admin_client.get(admin_url(paper, "change")).text

    assert f'id="id_title_advice" aria-live="polite"><li>{WARNING}</li>' in page
    assert 'aria-describedby="id_title_helptext id_title_advice"' in page
    assert 'formaction="/admin/text/" formtarget="_blank"' in page


def test_saving_shows_new_warnings_once(admin_client: Client) -> None:
    paper = make.make_paper(make.make_edition(), title="One")
    data = {"title": BROKEN_FORMULA, "abstract": "", "status": "published"}
    for prefix in ("authorships", "materials", "presentations"):
        data |= formset(prefix)
    page = admin_client.post(admin_url(paper, "change"), data, follow=True).text
    second_page = admin_client.post(admin_url(paper, "change"), data, follow=True).text
    paper.refresh_from_db()

    assert f"Worth a look: Title: {WARNING}" in page
    assert "Worth a look" not in second_page
    assert paper.title == BROKEN_FORMULA


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (Paper, {"title", "abstract", "lay_summary"}),
        (Session, {"title", "abstract", "presentations-__prefix__-title"}),
        (Person, {"biography"}),
        (Award, {"citation", "grants-0-citation", "grants-__prefix__-citation"}),
        (Announcement, {"text"}),
        (Room, set()),
    ],
)
def test_every_formatted_text_has_a_preview(model: Any, names: set[str], admin_client: Client) -> None:
    make.make_edition()
    page = admin_client.get(admin_url(model, "add")).text

    assert {*re.findall(r'name="_text" value="\w+ (\S+) ', page)} == names
    assert ("Preview the texts in a new tab" in page) == bool(names)


def test_related_row_added_from_a_form_gets_the_forms_edition(admin_client: Client) -> None:
    old, _new = make.make_edition(2020), make.make_edition(2021)
    page = admin_client.get(admin_url(make.make_session(old), "change")).text
    link = re.search(r'href="(/admin/schedule/room/add/[^"]+)"', page)
    assert link
    form = admin_client.get(link[1].replace("&amp;", "&"))

    assert form.context["adminform"].form.initial["edition"] == str(old.pk)


def test_desk_counts_papers_with_warnings(admin_client: Client) -> None:
    edition: Edition = make.make_edition()
    titles = ["Well", "BERT", "ALL IN CAPITALS", BROKEN_FORMULA, "2021 42"]
    papers = {title: make.make_paper(edition, title=title) for title in titles}
    papers["abstract"] = make.make_paper(edition, abstract=BROKEN_FORMULA)
    make.make_paper(edition, title="OLD AND WITHDRAWN", status="withdrawn")
    flagged = Paper.objects.worth_a_look()

    assert {*flagged} == {papers["ALL IN CAPITALS"], papers[BROKEN_FORMULA], papers["abstract"]}
    assert "<b>3</b> <span>titles and abstracts to check</span>" in admin_client.get("/admin/").text
