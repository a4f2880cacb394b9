"""Choices of people, rooms and sessions in forms without JavaScript: a name or number is typed."""

import re
from typing import Any

import pytest
from django.test import Client

from conference.models import Edition
from schedule.models import Presentation
from tests.admin_forms import admin_url
from tests.factories import add_role, make_edition, make_person, make_presentation, make_room, make_session
from tests.html_pages import Page

pytestmark = pytest.mark.django_db


@pytest.fixture
def talk(edition: Edition) -> Presentation:
    return make_presentation(edition=edition, title="Engines")


@pytest.fixture
def edition() -> Edition:
    return make_edition()


def form_values(markup: str, name_of_form: str) -> dict[str, str]:
    """Return what a browser without JavaScript would send of the form, unchanged."""
    (form,) = Page(markup).all("form", id=name_of_form)
    values: dict[str, str] = {}
    for field in form.elements:
        name, kind = field.attributes.get("name"), field.attributes.get("type", "")
        if not name or kind in ("submit", "file") or field.tag not in ("input", "select", "textarea"):
            continue
        if field.tag == "select":
            selected = [option for option in field.inside("option") if "selected" in option.attributes]
            values |= dict.fromkeys(
                [name][: len(selected)], selected[0].attributes["value"] if selected else ""
            )
        elif field.tag == "textarea":
            values[name] = field.text
        elif kind not in ("checkbox", "radio") or "checked" in field.attributes:
            values[name] = field.attributes.get("value", "")
    return values


def save_typed(client: Client, talk: Presentation, **typed: str) -> Any:
    """Save the form of a talk with texts typed beside its choices."""
    address = admin_url(talk, "change")
    data = form_values(client.get(address).text, "presentation_form")
    return client.post(address, {**data, **{f"{name}-typed": text for name, text in typed.items()}})


def test_typed_names_and_numbers_are_chosen(
    admin_client: Client, edition: Edition, talk: Presentation
) -> None:
    session, room = make_session(edition, title="Keynotes of Tuesday"), make_room(edition, "Hall A")
    other = make_edition(2022)
    make_session(other, title="Keynotes of Tuesday")
    make_room(other, "Hall A")
    assert save_typed(admin_client, talk, session="keynotes", room=f"#{room.pk}").status_code == 302
    talk.refresh_from_db()
    assert (talk.session, talk.room) == (session, room)


def test_text_that_fits_none_or_several_is_refused_with_the_numbers_of_those_that_fit(
    admin_client: Client, edition: Edition, talk: Presentation
) -> None:
    rooms = [make_room(edition, f"Hall {letter}") for letter in "AB"]
    page = save_typed(admin_client, talk, room="hall", session="Nowhere").text

    assert f"Several fit. Type the number of one: #{rooms[0].pk} Hall A, #{rooms[1].pk} Hall B" in page
    assert "Nothing that can be chosen here is called “Nowhere”." in page
    assert '<input name="room-typed" value="hall"' in page


def test_input_stands_in_noscript_alone(admin_client: Client, talk: Presentation) -> None:
    page = admin_client.get(admin_url(talk, "change")).text

    assert re.search(r'<noscript><input name="session-typed" value=""', page)
    assert "-typed" not in re.sub(r"(?s)<noscript>.*?</noscript>", "", page)


def test_person_of_a_part_is_chosen_by_a_typed_name(admin_client: Client, edition: Edition) -> None:
    session, ada = make_session(edition), make_person("Ada Lovelace")
    make_person("Adam Smith")
    role = add_role(session, "Grace Hopper", "chair")
    address = admin_url(session, "change")
    values = form_values(admin_client.get(address).text, "session_form")
    response = admin_client.post(address, {**values, "roles-0-person-typed": "ada l"})
    role.refresh_from_db()

    assert (response.status_code, role.person) == (302, ada)
