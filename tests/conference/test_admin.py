"""The admin as a whole: every page of every model, constant queries, time zones, order, choices, actions."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conference.models import Announcement, Conference, Edition, KeyDate, MenuItem, Page, Sponsor
from editorial.model_admin import ContentAdmin
from papers.models import Authorship, Award, AwardGrant, Material, Paper, Topic
from people.models import (
    CommitteeRole,
    Institution,
    InstitutionDistinction,
    Person,
    PersonDistinction,
    PersonIdentifier,
    PersonName,
)
from schedule.models import Presentation, Release, Room, Session, SessionKind, SessionRole, Speaker
from tests.admin_forms import admin_url, autocomplete_choices, date_and_time, formset
from tests.exchange.programs import PROCEEDINGS
from tests.factories import (
    add_author,
    add_role,
    make_announcement,
    make_award,
    make_committee_role,
    make_conference,
    make_edition,
    make_institution,
    make_key_date,
    make_material,
    make_menu_item,
    make_page,
    make_paper,
    make_person,
    make_presentation,
    make_room,
    make_session,
    make_session_kind,
    make_sponsor,
    make_topic,
    numbers,
)
from tests.html_pages import read

pytestmark = pytest.mark.django_db


def make_person_name() -> PersonName:
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
    KeyDate: make_key_date,
    Page: make_page,
    MenuItem: lambda edition: make_menu_item(edition, page=make_page(edition)),
    Sponsor: make_sponsor,
    Person: lambda _: make_person(affiliation="Analytical Engines"),
    PersonName: lambda _: make_person_name(),
    PersonIdentifier: lambda _: make_identifier(),
    Institution: lambda _: make_institution(),
    PersonDistinction: lambda _: PersonDistinction.objects.create(first=make_person(), second=make_person()),
    InstitutionDistinction: lambda _: InstitutionDistinction.objects.create(
        first=make_institution(), second=make_institution("Another")
    ),
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
    SessionKind: lambda edition: make_session_kind(edition.conference, f"Kind {next(numbers)}"),
}
MODELS = list(MAKERS)


def model_name(model: type[Model]) -> str:
    return model.__name__


def test_factories_cover_every_content_admin() -> None:
    content_models = {
        model for model, model_admin in admin.site._registry.items() if isinstance(model_admin, ContentAdmin)
    }

    assert content_models == {*MODELS}


@pytest.mark.parametrize("model", MODELS, ids=model_name)
def test_list_query_count_is_the_same_for_1_and_3_rows(model: type[Model], admin_client: Client) -> None:
    edition = make_edition()
    query_counts = []
    for count in (1, 2):
        rows = [MAKERS[model](edition) for _ in range(count)]
        with CaptureQueriesContext(connection) as queries:
            page = admin_client.get(admin_url(model, "changelist"))
        query_counts.append(len(queries))

        assert [row for row in rows if f'href="{admin_url(row, "change")}' not in page.text] == []

    assert query_counts[0] == query_counts[1] <= 12


@pytest.mark.parametrize("model", MODELS, ids=model_name)
def test_search_without_match_lists_no_row(model: type[Model], admin_client: Client) -> None:
    row = MAKERS[model](make_edition())
    page = admin_client.get(admin_url(model, "changelist"), {"q": "no such thing anywhere"})

    assert "0 results" in page.text
    assert f'href="{admin_url(row, "change")}' not in page.text


@pytest.mark.parametrize("model", MODELS, ids=model_name)
def test_change_delete_and_history_pages_of_a_row_open(model: type[Model], admin_client: Client) -> None:
    row = MAKERS[model](make_edition())
    change = admin_client.get(admin_url(row, "change"))
    delete = admin_client.get(admin_url(row, "delete"))
    history = admin_client.get(admin_url(row, "history"))

    assert f"Change {model._meta.verbose_name}" in change.text
    assert 'name="_save"' in change.text
    assert "elete" in delete.text
    assert f"Change history: {row}" in history.context["title"]


# Releases are announced on their own page instead of in a form to add them.
@pytest.mark.parametrize("model", [model for model in MODELS if model is not Release], ids=model_name)
def test_add_form_opens_and_handles_an_empty_post(model: type[Model], admin_client: Client) -> None:
    make_edition()
    page = admin_client.get(admin_url(model, "add"))

    assert f"Add {model._meta.verbose_name}" in page.text
    assert 'name="_save"' in page.text
    prefixes = [inline.formset.prefix for inline in page.context["inline_admin_formsets"]]
    empty = {f"{prefix}-{count}_FORMS": 0 for prefix in prefixes for count in ("TOTAL", "INITIAL")}
    response = admin_client.post(admin_url(model, "add"), empty)
    assert response.status_code == 302 or "errornote" in response.text


@pytest.mark.parametrize("model", MODELS, ids=model_name)
def test_unused_row_can_be_deleted(model: type[Model], admin_client: Client) -> None:
    row = MAKERS[model](make_edition())
    admin_client.post(admin_url(row, "delete"), {"post": "yes"})

    assert not model._base_manager.filter(pk=row.pk).exists()


def test_menu_item_refuses_page_and_parent_of_another_edition(admin_client: Client) -> None:
    old, new = make_edition(2020), make_edition(2021)
    page, parent = make_page(old), make_menu_item(old)
    values = {"edition": new.pk, "label": "Help", "position": 0}
    targets: list[dict[str, Any]] = [{"page": page.pk}, {"section": "papers", "parent": parent.pk}]
    refused = [admin_client.post(admin_url(MenuItem, "add"), {**values, **target}).text for target in targets]

    assert "The page belongs to another edition." in refused[0]
    assert "The parent item belongs to another edition." in refused[1]
    assert autocomplete_choices(admin_client, MenuItem, "page", new) == []


def test_entered_position_moves_a_row_among_its_siblings(admin_client: Client, edition: Edition) -> None:
    gold, silver, bronze = (make_sponsor(edition, name) for name in ("Gold", "Silver", "Bronze"))
    values = {
        "name": "Bronze",
        "tier": "",
        "url": "",
        "description": "",
        "status": "published",
        "position": 1,
    }
    admin_client.post(admin_url(bronze, "change"), values)
    order = Sponsor.objects.values_list("position", "name")

    assert list(order) == [(1, "Bronze"), (2, "Gold"), (3, "Silver")]
    assert {gold.pk, silver.pk, bronze.pk} == {*Sponsor.objects.values_list("pk", flat=True)}


def edition_values(**fields: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "year": 2026,
        "name": "MLSys 2026",
        "start_date": "2026-03-27",
        "end_date": "2026-03-29",
        "timezone": "Europe/Berlin",
        "second_timezone": "",
        "day_start_hour": 4,
        "mode": "in_person",
        "accent": "#0b6b62",
        "hero_focus": "center",
        **date_and_time("public_from", "2026-03-01", "09:00"),
    }
    return {**values, **formset("menu_items"), **formset("rooms"), **fields}


def test_new_edition_times_are_read_in_the_entered_time_zone(admin_client: Client) -> None:
    make_edition(2020)
    rooms = formset("rooms", added=[{"name": "Hall B", "position": 2}, {"name": "Säle A"}])
    values = edition_values(conference=make_conference().pk, **rooms)
    admin_client.post(admin_url(Edition, "add"), values)
    edition = Edition.objects.get(year=2026)

    assert (edition.slug, edition.public_from) == ("2026", datetime(2026, 3, 1, 8, tzinfo=UTC))
    assert list(edition.rooms.values_list("position", "slug")) == [(1, "hall-b"), (2, "sale-a")]
    assert "Time (in the zone above):" in admin_client.get(admin_url(Edition, "add")).text
    assert "Time (Europe/Berlin):" in admin_client.get(admin_url(edition, "change")).text


def test_proceedings_are_entered_in_the_form(admin_client: Client) -> None:
    edition = make_edition(2026, timezone="Europe/Berlin")
    entered = {**PROCEEDINGS, "proceedings_editors": "Mia Zed\nAnna van der Berg"}
    values = edition_values(conference=edition.conference_id, **entered)
    refused = admin_client.post(admin_url(edition, "change"), {**values, "isbn": "978-3-16-148410-1"})
    admin_client.post(admin_url(edition, "change"), values)

    assert "“978-3-16-148410-1” is not an ISBN" in refused.text
    stored = Edition.objects.values(*PROCEEDINGS).get(pk=edition.pk)
    assert stored == {**PROCEEDINGS, "proceedings_editors": ["Mia Zed", "Anna van der Berg"]}


def test_license_is_chosen_or_entered(admin_client: Client) -> None:
    edition = make_edition(2026, timezone="Europe/Berlin")
    values = edition_values(conference=edition.conference_id)
    page = read(admin_client, admin_url(edition, "change"))
    refused = admin_client.post(admin_url(edition, "change"), {**values, "license": "cc by 4.0"})
    admin_client.post(admin_url(edition, "change"), {**values, "license": "CC-BY-4.0"})
    edition.refresh_from_db()

    assert [tag.attributes["list"] for tag in page.all("input", name="license")] == ["licenses"]
    assert len(page.all("datalist", id="licenses")) == 1
    assert "CC-BY-4.0" in [tag.attributes["value"] for tag in page.all("option")]
    assert "Write “cc by 4.0” as CC-BY-4.0." in refused.text
    assert edition.license == "CC-BY-4.0"


def test_unknown_time_zone_is_refused_and_a_changed_one_warns(admin_client: Client) -> None:
    edition = make_edition(2026, timezone="Europe/Berlin")
    make_session(edition)
    conference = {"conference": edition.conference_id}
    refused = admin_client.post(
        admin_url(edition, "change"), edition_values(timezone="Atlantis", **conference)
    )
    values = edition_values(timezone="Asia/Seoul", **conference)
    page = admin_client.post(admin_url(edition, "change"), values, follow=True)
    edition.refresh_from_db()

    assert "“Atlantis” is not a time zone." in refused.text
    assert "Sessions still start at the same moment" in page.text
    assert edition.public_from == datetime(2026, 3, 1, 0, tzinfo=UTC)


def test_deleting_an_edition_with_a_program_is_refused_with_counts(admin_client: Client) -> None:
    edition = make_edition()
    make_paper(edition)
    make_paper(edition)
    make_session(edition)
    page = admin_client.post(admin_url(edition, "delete"), {"post": "yes"})

    assert "MLSys 2021: 2 papers" in page.text
    assert "MLSys 2021: 1 session" in page.text
    assert Edition.objects.exists()


def test_announcement_time_is_shown_and_read_in_the_edition_time_zone(admin_client: Client) -> None:
    edition = make_edition(2026, timezone="Asia/Kathmandu")
    values = {"edition": edition.pk, "uid": "a1", "title": "Welcome", "status": "draft"}
    admin_client.post(
        admin_url(Announcement, "add"), {**values, **date_and_time("published_at", "2026-07-08", "10:00")}
    )
    news = Announcement.objects.get()

    assert news.published_at == datetime(2026, 7, 8, 4, 15, tzinfo=UTC)
    assert "Wed 8 Jul 2026, 10:00 GMT+5:45" in admin_client.get(admin_url(Announcement, "changelist")).text


def test_admin_index_groups_models_in_order(admin_client: Client) -> None:
    page = admin_client.get("/admin/")
    groups = {
        group["name"]: [str(model["name"]) for model in group["models"]] for group in page.context["app_list"]
    }

    assert list(groups)[:4] == ["Editions", "Papers", "Sessions and timetable", "People"]
    assert groups["Papers"][:2] == ["Papers", "Topics"]
    assert groups["Sessions and timetable"][:3] == ["Sessions", "Presentations", "Rooms"]
    assert '<div id="site-name"><a href="/admin/">Plenary</a></div>' in page.text


@pytest.mark.parametrize("model", [Edition, Paper, Session, Room, Topic, Person, Page], ids=model_name)
def test_change_form_links_to_the_public_page(model: type[Model], admin_client: Client) -> None:
    edition = make_edition()
    row: Any = MAKERS[model](edition)
    # These have a public page if a public row uses them.
    make_session(edition, room=row if model is Room else None)
    make_paper(edition, [row] if model is Person else [], topic=row if model is Topic else None)
    page = admin_client.get(admin_url(row, "change")).text
    link = re.search(r'<a href="(/admin/r/[^"]+)" class="viewsitelink"', page)

    assert link
    assert admin_client.get(link[1]).headers["Location"].endswith(row.get_absolute_url())


def test_link_to_the_public_page_of_a_draft_leads_to_its_preview_or_is_hidden(admin_client: Client) -> None:
    paper, person = make_paper(make_edition(), status="draft"), make_person()
    page, person_page = (admin_client.get(admin_url(row, "change")).text for row in (paper, person))
    (link,) = re.findall(r'<a href="(/admin/r/[^"]+)" class="viewsitelink"', page)

    assert admin_client.get(link).headers["Location"] == paper.edition.get_preview_url(
        paper.get_absolute_url()
    )
    assert admin_client.get(link, follow=True).status_code == 200
    assert "viewsitelink" not in person_page


@pytest.mark.parametrize("key", ["abc", "0", "9" * 30, "1/2", "%00"])
def test_public_page_redirect_of_an_invalid_key_is_not_found(key: str, admin_client: Client) -> None:
    content_type = ContentType.objects.get_for_model(Paper)

    assert admin_client.get(f"/admin/r/{content_type.pk}/{key}/").status_code == 404


def test_sponsor_form_shows_no_class_name(admin_client: Client) -> None:
    page = admin_client.get("/admin/conference/sponsor/add/").content.decode()

    assert "PublishedRows" not in page


def test_home_page_sections_are_reordered_and_switched_off(admin_client: Client) -> None:
    edition = make_edition(2026, timezone="Europe/Berlin", home_sections=["sponsors", "news"])
    form = admin_url(edition, "change")
    (table,) = read(admin_client, form).all("div", "home-sections")
    fields = {tag.attributes["name"]: tag.attributes for tag in table.inside("input")}
    form_data = {name: "on" for name, attributes in fields.items() if "checked" in attributes}
    form_data |= {
        name: attributes["value"] for name, attributes in fields.items() if attributes["type"] == "number"
    }
    values = edition_values(conference=edition.conference_id)

    def save_sections(**changes: str) -> list[str]:
        admin_client.post(form, {**values, **form_data, **changes})
        edition.refresh_from_db()
        return list(edition.home_sections)

    assert [row.text for row in table.inside("p")][:3] == ["Sponsors", "News", "On now and next"]
    assert save_sections() == ["sponsors", "news"]
    assert save_sections(home_sections_news="1", home_sections_now_off="") == ["news", "sponsors", "now"]
    everything_off = {name: "on" for name in fields if name.endswith("_off")}
    refused = admin_client.post(form, {**values, **form_data, **everything_off})
    assert "Show at least one section." in refused.text
    assert save_sections(**dict.fromkeys(fields, "")) == []
