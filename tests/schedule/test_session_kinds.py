"""Tests of kinds that a conference adds: their sessions, what they count as, and permissions."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import ProtectedError
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.access_scope import access_of
from accounts.models import Membership
from accounts.roles import Role
from conference.models import Edition
from content.history import ChangeSet
from content.history.revert import undo
from schedule.models import Presentation, Session, SessionKind
from schedule.session_kinds import kind_choices
from tests import factories as make
from tests.admin_forms import admin_url, date_and_time, formset, run_action
from tests.schedule.page_text import fetch, read_text

pytestmark = pytest.mark.django_db

# Name of a custom kind by the built-in kind that it counts as.
CUSTOM_KINDS = {"break": "Coffee walk", "poster": "Poster slam", "invited_talk": "Fireside chat"}


@pytest.fixture
def edition() -> Edition:
    return make.make_edition()


@pytest.fixture
def bof(edition: Edition) -> SessionKind:
    return make.make_session_kind(edition.conference, "Birds of a feather", slug="bof", color="#0b6b62")


def stored_kind(row: Any) -> tuple[str, str, str]:
    row.refresh_from_db()
    return row.kind, row.counts_as, row.kind_name


@pytest.mark.parametrize(("counts_as", "name"), CUSTOM_KINDS.items(), ids=CUSTOM_KINDS.keys())
def test_rules_of_a_custom_kind_follow_what_it_counts_as(
    edition: Edition, client: Client, counts_as: str, name: str
) -> None:
    kind = make.make_session_kind(edition.conference, name, counts_as=counts_as)
    session = make.make_session(edition, kind=kind.slug)
    built_in = make.make_session(edition, kind=counts_as)
    rows = Session.objects.filter(edition=edition)

    assert stored_kind(session) == (kind.slug, counts_as, name)
    assert stored_kind(built_in) == (counts_as, counts_as, "")
    both = {session, built_in}
    assert {*rows.invited_talks()} == (both if counts_as == "invited_talk" else set())
    assert {*rows.with_posters()} == (both if counts_as == "poster" else set())
    assert {*rows.beside(0, None)} == (set() if counts_as == "break" else both)
    page = fetch(client, "/2021/schedule/2021-04-06/")
    assert (f'{session.get_absolute_url()}"' in page) == (counts_as != "break")


@pytest.mark.parametrize("method", ["save", "update_fields", "bulk_create", "bulk_update"])
def test_rows_hold_the_kind_after_any_write(edition: Edition, bof: SessionKind, method: str) -> None:
    session = make.make_session(edition)
    session.kind = "bof"
    match method:
        case "save":
            session.save()
        case "update_fields":
            session.save(update_fields=["kind"])
        case "bulk_create":
            Session.objects.filter(pk=session.pk).delete()
            Session.objects.bulk_create([session])
        case _:
            Session.objects.bulk_update([session], ["kind"])

    assert stored_kind(session) == ("bof", "oral", "Birds of a feather")


@pytest.mark.parametrize("row_count", [1, 3])
def test_bulk_update_reads_the_kind_once(edition: Edition, bof: SessionKind, row_count: int) -> None:
    rows = [make.make_session(edition) for _ in range(row_count)]
    for row in rows:
        row.edition, row.kind = edition, "bof"
    with CaptureQueriesContext(connection) as queries:
        Session.objects.bulk_update(rows, ["kind"])

    assert sum("schedule_sessionkind" in query["sql"] for query in queries) == 1


def test_built_in_kinds_make_no_queries(edition: Edition) -> None:
    session = make.make_session(edition)
    with CaptureQueriesContext(connection) as queries:
        session.full_clean()
        session.save()

    assert not [query for query in queries if "schedule_sessionkind" in query["sql"]]


def test_unknown_kind_is_refused(edition: Edition, bof: SessionKind) -> None:
    other = make.make_edition(2030, conference=make.make_conference(slug="other"))
    for target, kind in ((edition, "bofs"), (other, "bof")):
        with pytest.raises(ValidationError) as refusal:
            make.make_session(target, kind="oral", uid=f"x{kind}").__class__(
                edition=target, kind=kind, title="A", start=make.MORNING, end=make.MORNING
            ).full_clean()
        assert [*refusal.value.error_dict] == ["kind"]


def test_session_kind_is_refused_for_presentations(edition: Edition, bof: SessionKind) -> None:
    with pytest.raises(ValidationError):
        Presentation(edition=edition, kind="bof", title="A").full_clean()


def test_presentation_kind_cannot_count_as_a_session_kind(edition: Edition) -> None:
    kind = SessionKind(
        conference=edition.conference, applies_to="presentation", slug="oral", name="A", counts_as="break"
    )
    with pytest.raises(ValidationError) as refusal:
        kind.full_clean()

    assert {*refusal.value.error_dict} == {"counts_as"}


def test_row_of_a_built_in_kind_changes_only_its_color(edition: Edition, client: Client) -> None:
    session = make.make_session(edition, kind="oral")
    kind = SessionKind(
        conference=edition.conference, slug="oral", name="Talks", counts_as="oral", color="#0b6b62"
    )
    kind.full_clean()
    kind.save()
    kind.name = "Contributed"
    kind.save()

    assert stored_kind(session) == ("oral", "oral", "")
    text = read_text(client, "/2021/schedule/")
    assert "Oral session" in text
    assert "Contributed" not in text
    assert [label for _, label in kind_choices("session", [kind])] == [*Session.Kind.labels]
    kind.delete()


def test_built_in_kind_counts_as_itself(edition: Edition) -> None:
    kind = SessionKind(conference=edition.conference, slug="oral", name="A", counts_as="panel")
    with pytest.raises(ValidationError) as refusal:
        kind.full_clean()

    assert refusal.value.message_dict == {"counts_as": ["A built-in kind counts as itself."]}


def test_change_of_a_kind_updates_its_rows_without_history(edition: Edition, bof: SessionKind) -> None:
    session, other = make.make_session(edition, kind="bof"), make.make_session(edition)
    revision = Edition.objects.get(pk=edition.pk).revision
    bof.name, bof.counts_as = "Feathers", "social"
    bof.save()

    assert stored_kind(session) == ("bof", "social", "Feathers")
    assert stored_kind(other) == ("oral", "oral", "")
    assert Edition.objects.get(pk=edition.pk).revision > revision
    assert ChangeSet.objects.latest("pk").rows.filter(model="schedule.session").count() == 0


def test_used_kind_cannot_be_deleted(edition: Edition, bof: SessionKind) -> None:
    session = make.make_session(edition, kind="bof", title="Compilers")
    for delete in (bof.delete, SessionKind.objects.all().delete):
        with pytest.raises(ProtectedError, match=r"still in use: Compilers \(MLSys 2021\)"):
            delete()
    session.delete()

    bof.delete()
    assert not SessionKind.objects.exists()


def test_kind_is_deleted_with_its_conference(edition: Edition, bof: SessionKind) -> None:
    edition.delete()
    edition.conference.delete()

    assert not SessionKind.objects.exists()


def test_undo_restores_the_kind(edition: Edition, bof: SessionKind) -> None:
    session = make.make_session(edition)
    session.kind = "bof"
    session.save()
    undo(ChangeSet.objects.latest("pk"))

    assert stored_kind(session) == ("oral", "oral", "")


def test_schedule_filter_offers_a_custom_kind(edition: Edition, bof: SessionKind, client: Client) -> None:
    make.make_session(edition, kind="bof", title="Compilers")
    make.make_session(edition, kind="oral", title="Memory")
    make.make_session(edition, kind="poster", title="Wall")
    path = "/2021/schedule/2021-04-06/"

    unfiltered_page = fetch(client, path)
    assert '<option value="bof">Birds of a feather</option>' in unfiltered_page
    assert '<span class="dot kind-bof">Birds of a feather</span>' in unfiltered_page
    text_of_bof, text_of_oral = read_text(client, f"{path}?kind=bof"), read_text(client, f"{path}?kind=oral")
    assert [title in text_of_bof for title in ("Compilers", "Memory", "Wall")] == [True, False, False]
    assert [title in text_of_oral for title in ("Compilers", "Memory", "Wall")] == [True, True, False]
    assert client.get(f"{path}?kind=bofs").status_code == 400


@pytest.mark.parametrize(("kind", "label"), [("oral", "Oral session"), ("bof", "Birds of a feather")])
def test_search_result_names_the_kind(
    edition: Edition, bof: SessionKind, client: Client, kind: str, label: str
) -> None:
    make.make_session(edition, kind=kind, title="Compilers")

    assert label in read_text(client, "/search/?q=compilers")


@pytest.mark.parametrize("kind", ["oral", "bof"])
def test_pages_make_no_query_for_kinds(edition: Edition, bof: SessionKind, client: Client, kind: str) -> None:
    session = make.make_session(edition, kind=kind, uid="s1")
    make.make_presentation(session, make.make_paper(edition, uid="p1"))
    for page in ("schedule/2021-04-06/", "schedule/", "sessions/s1/", "papers/", "papers/p1/"):
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/2021/{page}", follow=True)
        # The colors of kinds are in the stylesheet of the edition, whose address is cached.
        kind_queries = [query["sql"] for query in queries if "schedule_sessionkind" in query["sql"]]
        assert not [sql for sql in kind_queries if "UNION ALL" not in sql], page


def test_papers_are_filtered_by_a_custom_kind_of_presentation(edition: Edition, client: Client) -> None:
    fields = {"applies_to": "presentation", "slug": "flash", "counts_as": "spotlight"}
    make.make_session_kind(edition.conference, "Flash talk", **fields)
    session = make.make_session(edition, kind="oral")
    make.make_presentation(session, make.make_paper(edition, title="Quick"), kind="flash")
    make.make_presentation(session, make.make_paper(edition, title="Slow"), kind="oral")

    for kind, is_shown in (("flash", (True, False)), ("spotlight", (True, False)), ("oral", (False, True))):
        page = read_text(client, f"/2021/papers/?kind={kind}")
        assert ("Quick" in page, "Slow" in page) == is_shown
    assert "Flash talk" in read_text(client, "/2021/papers/")
    assert "Flash talk" in read_text(client, "/2021/statistics/")


def test_form_offers_the_kinds_of_its_conference(
    edition: Edition, bof: SessionKind, admin_client: Client
) -> None:
    make.make_session_kind(make.make_conference(slug="other"), "Hackathon")
    session = make.make_session(edition)
    page = admin_client.get(admin_url(session, "change")).text
    times = date_and_time("start", "2021-04-06", "09:00") | date_and_time("end", "2021-04-06", "10:00")
    fields = {"kind": "bof", "status": "published", "title": "Renamed", **times}
    data = {**fields, **formset("roles"), **formset("presentations"), "edition": edition.pk}
    response = admin_client.post(admin_url(session, "change"), data)

    assert ('value="bof"' in page, 'value="hackathon"' in page) == (True, False)
    assert (response.status_code, stored_kind(session)[:2]) == (302, ("bof", "oral"))
    assert "Birds of a feather" in admin_client.get(admin_url(Session, "changelist")).text


def test_admin_list_is_filtered_by_a_custom_kind(
    edition: Edition, bof: SessionKind, admin_client: Client
) -> None:
    session = make.make_session(edition, kind="bof")
    make.make_session(edition, kind="poster")
    filters: dict[str, Any] = {"edition__id__exact": edition.pk, "kind__exact": "bof"}
    response = admin_client.get(admin_url(Session, "changelist"), filters)

    assert [*response.context["cl"].queryset] == [session]


def test_action_sets_the_kind(edition: Edition, bof: SessionKind, admin_client: Client) -> None:
    rows = [make.make_session(edition) for _ in range(3)]
    page = run_action(admin_client, "set_kind", rows, kind="bof")

    assert "Kind set for 3 sessions." in page
    assert {stored_kind(row) for row in rows} == {("bof", "oral", "Birds of a feather")}
    undo(ChangeSet.objects.latest("pk"))
    assert {stored_kind(row) for row in rows} == {("oral", "oral", "")}


def test_delete_page_says_where_a_kind_is_used(
    edition: Edition, bof: SessionKind, admin_client: Client
) -> None:
    make.make_session(edition, kind="bof", title="Compilers")
    page = admin_client.get(admin_url(bof, "delete")).text
    admin_client.post(admin_url(bof, "delete"), {"post": "yes"})

    assert "Compilers (MLSys 2021)" in page
    assert SessionKind.objects.exists()


def test_chair_of_one_of_two_editions_cannot_change_a_kind(edition: Edition, bof: SessionKind) -> None:
    user = User.objects.create_user("chair", is_staff=True)
    Membership.objects.create(user=user, edition=edition, role=Role.CHAIR)
    assert access_of(user).may("change", SessionKind, bof)

    make.make_edition(2022)
    access = access_of(User.objects.get(pk=user.pk))
    allowed = {action for action in ("view", "change", "delete") if access.may(action, SessionKind, bof)}
    assert allowed == {"view"}


def test_viewer_sees_the_name_of_a_custom_kind(edition: Edition, bof: SessionKind, client: Client) -> None:
    user = User.objects.create_user("viewer", is_staff=True)
    Membership.objects.create(user=user, edition=edition, role=Role.VIEWER)
    client.force_login(user)
    session = make.make_session(edition, kind="bof")

    assert "Birds of a feather" in client.get(admin_url(session, "change")).text
