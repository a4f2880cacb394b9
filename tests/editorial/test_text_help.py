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
from tests.posted import address, formset

pytestmark = pytest.mark.django_db

HELP = "/admin/text/"
BROKEN = r"On $\foo x$"
SENTENCE = r"The formula “\foo x” cannot be rendered."


def test_text_is_shown_as_the_site_sets_it(admin_client: Client) -> None:
    block = admin_client.post(HELP, {"text": "*One* $x^2$\n\n- two", "kind": "block"}).json()
    line = admin_client.post(HELP, {"text": "LOUD WORDS $x^2$", "kind": "line"}).json()

    assert re.sub(r"<math.*?</math>", "MATH", block["html"]).split("\n")[0] == "<p><em>One</em> MATH</p>"
    assert block["advice"] == []
    assert line["html"].startswith("LOUD WORDS <math")
    assert line["advice"] == ["The title is in all caps."]


def test_nothing_active_comes_back(admin_client: Client) -> None:
    hostile = "<script>x()</script><img src=x onerror=y()> [a](javascript:z())"
    found = admin_client.post(HELP, {"text": hostile, "kind": "block"}).json()

    assert re.findall(r"<(?!/?p\b)[^>]*>", found["html"]) == []


@pytest.mark.parametrize("who", ["anonymous", "reader"])
def test_only_staff_is_helped(who: str, client: Client) -> None:
    if who == "reader":
        client.force_login(get_user_model().objects.create_user("reader"))
    answer = client.post(HELP, {"text": "x"})

    assert (answer.status_code, answer.headers["Location"].split("?")[0]) == (302, "/admin/login/")


def test_request_needs_the_token_of_the_form_and_a_post(admin_user: Any) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(admin_user)

    assert client.post(HELP, {"text": "x"}).status_code == 403
    assert client.get(HELP).status_code == 405


def test_text_that_is_too_long_is_refused_with_a_sentence(admin_client: Client) -> None:
    answer = admin_client.post(HELP, {"text": "x" * 200_001})

    assert answer.status_code == 413
    assert answer.json() == {"html": "", "advice": ["Longer than 200,000 characters: not shown here."]}


def test_all_texts_of_a_form_are_shown_on_one_page(admin_client: Client) -> None:
    texts = ["line title Title", "block abstract Abstract", "block lay_summary Lay summary"]
    page = admin_client.post(HELP, {"_text": texts, "title": BROKEN, "abstract": "*Well* done"})
    sections = [text["label"] for text in page.context["texts"]]

    assert sections == ["Title", "Abstract"]
    assert SENTENCE in page.text
    assert "<em>Well</em> done" in page.text


def test_texts_of_a_form_with_a_field_called_text_are_shown_on_a_page(admin_client: Client) -> None:
    page = admin_client.post(HELP, {"_text": ["block text Text"], "text": "*Well* done"})

    assert "<em>Well</em> done" in page.text


def test_form_tells_what_is_worth_a_look_beside_the_field(admin_client: Client) -> None:
    paper = make.make_paper(make.make_edition(), title=BROKEN)
    page = admin_client.get(address(paper, "change")).text

    assert f'id="id_title_advice" aria-live="polite"><li>{SENTENCE}</li>' in page
    assert 'aria-describedby="id_title_helptext id_title_advice"' in page
    assert 'formaction="/admin/text/" formtarget="_blank"' in page


def test_saving_tells_and_saves(admin_client: Client) -> None:
    paper = make.make_paper(make.make_edition(), title="One")
    sent = {"title": BROKEN, "abstract": "", "status": "published"}
    for prefix in ("authorships", "materials", "presentations"):
        sent |= formset(prefix)
    page = admin_client.post(address(paper, "change"), sent, follow=True).text
    again = admin_client.post(address(paper, "change"), sent, follow=True).text
    paper.refresh_from_db()

    assert f"Worth a look: Title: {SENTENCE}" in page
    assert "Worth a look" not in again
    assert paper.title == BROKEN


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
def test_every_text_that_the_site_sets_has_help(model: Any, names: set[str], admin_client: Client) -> None:
    make.make_edition()
    page = admin_client.get(address(model, "add")).text

    assert {*re.findall(r'name="_text" value="\w+ (\S+) ', page)} == names
    assert ("Preview the texts in a new tab" in page) == bool(names)


def test_row_added_beside_a_choice_is_of_the_forms_edition(admin_client: Client) -> None:
    old, _new = make.make_edition(2020), make.make_edition(2021)
    page = admin_client.get(address(make.make_session(old), "change")).text
    add = re.search(r'href="(/admin/schedule/room/add/[^"]+)"', page)
    assert add
    form = admin_client.get(add[1].replace("&amp;", "&"))

    assert form.context["adminform"].form.initial["edition"] == str(old.pk)


def test_desk_counts_titles_and_texts_to_look_at(admin_client: Client) -> None:
    edition: Edition = make.make_edition()
    titles = ["Well", "BERT", "ALL IN CAPITALS", BROKEN, "2021 42"]
    papers = {title: make.make_paper(edition, title=title) for title in titles}
    papers["abstract"] = make.make_paper(edition, abstract=BROKEN)
    make.make_paper(edition, title="OLD AND WITHDRAWN", status="withdrawn")
    found = Paper.objects.worth_a_look()

    assert {*found} == {papers["ALL IN CAPITALS"], papers[BROKEN], papers["abstract"]}
    assert "<b>3</b> <span>titles and abstracts to check</span>" in admin_client.get("/admin/").text
