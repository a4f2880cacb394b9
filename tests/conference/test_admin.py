"""The admin as a whole: every page of every model, constant queries, time zones, order, choices, actions."""

from collections.abc import Callable

import pytest
from django.contrib import admin
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from conference.adminbases import ContentAdmin
from conference.models import Announcement, Conference, Edition, MenuItem, Page, Sponsor
from papers.models import Authorship, Award, AwardGrant, Material, Paper, Topic
from people.models import CommitteeRole, Institution, Person, PersonIdentifier, PersonName
from schedule.models import Presentation, Release, Room, Session, SessionRole, Speaker
from tests.factories import (
    add_author,
    add_role,
    make_announcement,
    make_award,
    make_committee_role,
    make_conference,
    make_edition,
    make_institution,
    make_material,
    make_menu_item,
    make_page,
    make_paper,
    make_person,
    make_presentation,
    make_room,
    make_session,
    make_sponsor,
    make_topic,
    numbers,
)

pytestmark = pytest.mark.django_db


def make_name() -> PersonName:
    return PersonName.objects.create(person=make_person(), name=f"Ada Byron {next(numbers)}")


def make_identifier() -> PersonIdentifier:
    return PersonIdentifier.objects.create(person=make_person(), scheme="dblp", value=f"a{next(numbers)}")


def make_authorship(edition: Edition) -> Authorship:
    authorship = add_author(make_paper(edition), make_person())
    authorship.institutions.add(make_institution())
    return authorship


def make_grant(edition: Edition) -> AwardGrant:
    return AwardGrant.objects.get(award=make_award(edition, [make_paper(edition)]))


def make_release(edition: Edition) -> Release:
    return Release.objects.create(edition=edition, number=next(numbers))


def make_speaker(edition: Edition) -> Speaker:
    return Speaker.objects.get(presentation=make_presentation(make_session(edition), speakers=["Ada"]))


def make_full_paper(edition: Edition) -> Paper:
    topic = make_topic(edition, parent=make_topic(edition))
    paper = make_paper(edition, ["Zed", "Abe"], topic=topic)
    make_material(paper)
    make_presentation(make_session(edition, room=make_room(edition)), paper)
    return paper


def make_full_session(edition: Edition) -> Session:
    parent = make_session(edition, kind="workshop")
    session = make_session(edition, room=make_room(edition), parent=parent)
    add_role(session, "Ada")
    make_presentation(session, make_paper(edition))
    return session


MAKERS: dict[type[Model], Callable[[Edition], Model]] = {
    Conference: lambda _: make_conference(slug=f"conference-{next(numbers)}"),
    Edition: lambda _: make_edition(2000 + next(numbers)),
    Announcement: make_announcement,
    Page: make_page,
    MenuItem: lambda edition: make_menu_item(edition, page=make_page(edition)),
    Sponsor: make_sponsor,
    Person: lambda _: make_person(affiliation="Analytical Engines"),
    PersonName: lambda _: make_name(),
    PersonIdentifier: lambda _: make_identifier(),
    Institution: lambda _: make_institution(),
    CommitteeRole: lambda edition: make_committee_role(edition, make_person()),
    Topic: lambda edition: make_topic(edition, parent=make_topic(edition)),
    Paper: make_full_paper,
    Authorship: make_authorship,
    Material: lambda edition: make_material(make_paper(edition)),
    Award: lambda edition: make_award(edition, [make_paper(edition)]),
    AwardGrant: make_grant,
    Room: make_room,
    Session: make_full_session,
    Presentation: lambda edition: make_presentation(make_session(edition), make_paper(edition)),
    SessionRole: lambda edition: add_role(make_session(edition), "Ada"),
    Speaker: make_speaker,
    Release: make_release,
}
MODELS = list(MAKERS)


def address(row: Model | type[Model], page: str) -> str:
    args = [row.pk] if isinstance(row, Model) else []
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_{page}", args=args)


def name_of(model: type[Model]) -> str:
    return model.__name__


def test_every_model_of_the_program_is_registered() -> None:
    ours = {model for model, desk in admin.site._registry.items() if isinstance(desk, ContentAdmin)}

    assert ours == {*MODELS}


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_list_asks_as_much_for_one_row_as_for_three(model: type[Model], admin_client: Client) -> None:
    edition = make_edition()
    asked = []
    for more in (1, 2):
        rows = [MAKERS[model](edition) for _ in range(more)]
        with CaptureQueriesContext(connection) as queries:
            page = admin_client.get(address(model, "changelist"))
        asked.append(len(queries))

        assert [row for row in rows if f'href="{address(row, "change")}' not in page.text] == []

    assert asked[0] == asked[1] <= 12


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_search_and_filters_answer(model: type[Model], admin_client: Client) -> None:
    row = MAKERS[model](make_edition())
    found = admin_client.get(address(model, "changelist"), {"q": "no such thing anywhere"})

    assert "0 results" in found.text
    assert f'href="{address(row, "change")}' not in found.text


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_forms_and_pages_of_a_row_answer(model: type[Model], admin_client: Client) -> None:
    row = MAKERS[model](make_edition())
    change = admin_client.get(address(row, "change"))
    delete = admin_client.get(address(row, "delete"))
    history = admin_client.get(address(row, "history"))

    assert f"Change {model._meta.verbose_name}" in change.text
    assert 'name="_save"' in change.text
    assert "elete" in delete.text
    assert f"Change history: {row}" in history.context["title"]


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_add_form_answers_and_has_no_fixed_key(model: type[Model], admin_client: Client) -> None:
    make_edition()
    page = admin_client.get(address(model, "add"))

    assert f"Add {model._meta.verbose_name}" in page.text
    assert 'name="_save"' in page.text


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_row_can_be_deleted_unless_it_is_held(model: type[Model], admin_client: Client) -> None:
    row = MAKERS[model](make_edition())
    admin_client.post(address(row, "delete"), {"post": "yes"})

    assert not model._base_manager.filter(pk=row.pk).exists()
