"""Admin URLs that belong to no model, with every role; and posted data that no form offers."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import Membership
from accounts.roles import Role
from content.actor import acting_as
from content.history import ChangeSet, Origin, RowChange
from content.history.recording import recording
from papers.models import Paper
from people.merging import merge, split
from people.models import Invitation
from tests import factories as make
from tests.access.permission_table import MODELS, OTHER_URLS
from tests.access.test_admin_model_urls import outcome
from tests.access.world import MARKER, USERNAMES, World
from tests.admin_forms import formset

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def merge_change_set(row: Any) -> int:
    """Return the key of the change set that merged another row into this one; merge one if necessary."""
    reference = f"{row._meta.label_lower}:{row.pk}"
    change_set = ChangeSet.objects.filter(origin=Origin.MERGE, reference=reference).first()
    other = make.make_person("Twin") if row._meta.model_name == "person" else make.make_institution("Twin")
    return change_set.pk if change_set else merge.merge(row, [other]).change_set


def split_change_set(person: Any, user: User) -> int:
    """Return the key of the change set in which an account split another from a person."""
    if not split.split_change_sets().exists():
        spelling = person.names.earliest("pk")
        with acting_as(Origin.FORM, user):
            split.split(person, "Twin", {type(spelling): [spelling.pk]})
    return int(split.split_change_sets().get().pk)


def action_change_set(paper: Any) -> int:
    """Return the key of the change set of a bulk action that changed this paper."""
    with recording(Origin.ACTION, detail="Set track"):
        type(paper).objects.filter(pk=paper.pk).update(track="Theory")
    return ChangeSet.objects.filter(origin=Origin.ACTION).latest("pk").pk


def other_urls(world: World) -> dict[str, str]:
    """Return the URLs that belong to no model by name, for the edition and its rows."""
    rows, edition = world.rows, world.edition
    pages = ("announce", "boards", "board_labels", "preview", "talks")
    session_pages = [f"session_{page}" for page in pages]
    args: dict[str, Any] = {
        "app_list": ["papers"],
        "view_on_site": [ContentType.objects.get_for_model(rows["papers.paper"]).pk, rows["papers.paper"].pk],
        "auth_user_password_change": [world.users["superuser"].pk],
        "exchange_importjob_progress": [rows["exchange.importjob"].pk],
        "exchange_importrun_undo": [rows["exchange.importrun"].pk],
        "accounts_membership_revoke": [Invitation.objects.get().pk],
        "accounts_membership_send": [Invitation.objects.get().pk],
        "people_person_split": [rows["people.person"].pk],
        "take_back": [action_change_set(rows["papers.paper"])],
        "people_person_unsplit": [split_change_set(rows["people.person"], world.users["owner"])],
        "people_person_unmerge": [merge_change_set(rows["people.person"])],
        "people_institution_unmerge": [merge_change_set(rows["people.institution"])],
        **{f"conference_edition_{page}": [edition.pk] for page in ("as_public", "preview", "publish")},
        **{f"schedule_{page}": [rows["schedule.session"].pk] for page in session_pages},
    }
    queries = {"autocomplete": {"app_label": "papers", "model_name": "authorship", "field_name": "paper"}}
    default = {"edition": str(edition.pk)}
    return {
        name: reverse(f"admin:{name}", args=args.get(name, []), query=queries.get(name, default))
        for name in OTHER_URLS
    }


# By POST alone, or not for signed-in users.
SKIPPED = {"login", "logout", "text_help"}


@pytest.mark.parametrize("username", [name for name in USERNAMES if name not in ("other", "superuser")])
def test_other_admin_urls_open_as_in_the_permission_table(username: str, world: World) -> None:
    Invitation.objects.create(
        edition=world.edition, role="viewer", name="A", email="a@example.org", digest="x",
        expires_at=make.PAST,
    )  # fmt: skip
    client, differences = world.client(username), []
    refusal = "login" if username == "anonymous" else "closed"
    for name, url in other_urls(world).items():
        if name in SKIPPED or (name == "jsi18n" and username == "anonymous"):
            continue
        result = outcome(client.get(url))
        if result != ("open" if username in OTHER_URLS[name] else refusal):
            differences.append(f"{name}: {result}")

    assert differences == []


@pytest.mark.parametrize("username", Role.values)
def test_no_admin_page_shows_another_edition(username: str, world: World) -> None:
    client = world.client(username)
    other_key = world.other_edition.pk
    paths = [reverse(f"admin:{label.replace('.', '_')}_changelist") for label in MODELS]
    paths += [f"{path}?q={MARKER.lower()}" for path in paths]
    paths += [
        "/admin/",
        f"/admin/?edition={other_key}",
        f"/admin/schedule/session/clashes/?edition={other_key}",
        f"/admin/papers/paper/?edition__id__exact={other_key}",
        f"/admin/papers/paper/add/?edition={other_key}",
        f"/admin/accounts/membership/?edition={other_key}",
    ]
    choices = [("authorship", "paper"), ("paper", "edition"), ("paper", "topic"), ("authorship", "person")]
    for model, field in choices:
        query = f"app_label=papers&model_name={model}&field_name={field}&term={MARKER}&edition={other_key}"
        paths.append(f"/admin/autocomplete/?{query}")
    # The page repeats the query in lower case, so the marker does not match it.
    assert [path for path in paths if MARKER in client.get(path).text] == []


def forged_posts(world: World, rows: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return requests that could change these rows, as paths and data, whether or not a form offers them."""
    paper, session = rows["papers.paper"], rows["schedule.session"]
    posts: list[tuple[str, dict[str, Any]]] = []
    for label, row in rows.items():
        path = f"/admin/{label.replace('.', '/')}/"
        posts.append((f"{path}{row.pk}/change/", {"title": "Taken", "name": "Taken", "status": "published"}))
        posts.append((f"{path}{row.pk}/delete/", {"post": "yes"}))
    selection = {"_selected_action": [paper.pk], "index": "0"}
    posts.append(("/admin/papers/paper/", {"action": "publish", **selection}))
    posts.append(("/admin/papers/paper/", {"action": "delete_selected", "post": "yes", **selection}))
    posts.append(("/admin/schedule/session/", {"action": "cancel", "_selected_action": [session.pk]}))
    posts.append((f"/admin/exchange/importrun/{rows['exchange.importrun'].pk}/undo/", {}))
    posts.append((f"/admin/conference/edition/{world.edition.pk}/publish/", {"when": "now"}))
    return posts


@pytest.mark.parametrize("username", ["anonymous", "viewer", "other"])
def test_forged_posts_without_permission_change_nothing(username: str, world: World) -> None:
    client = world.client(username)
    before = RowChange.objects.count(), Membership.objects.count()
    for path, values in forged_posts(world, world.rows):
        client.post(path, values)

    assert (RowChange.objects.count(), Membership.objects.count()) == before


def test_forged_posts_of_an_owner_change_nothing_in_another_edition(world: World) -> None:
    client = world.client("owner")
    before = RowChange.objects.filter(edition_key=world.other_edition.pk).count()
    for path, values in forged_posts(world, world.other_rows):
        client.post(path, values)

    assert RowChange.objects.filter(edition_key=world.other_edition.pk).count() == before
    assert Membership.objects.filter(edition=world.other_edition).count() == 1


def test_row_cannot_be_added_to_another_edition(world: World) -> None:
    client = world.client("editor")
    values = {"edition": world.other_edition.pk, "name": "T", "slug": "t"}
    page = client.post("/admin/papers/topic/add/", values)

    assert "Select a valid choice" in page.text
    assert world.other_edition.topics.count() == 1


def test_session_chair_can_change_only_abstract_and_links(world: World) -> None:
    client, session = world.client("session_chair"), world.rows["schedule.session"]
    form = client.get(f"/admin/schedule/session/{session.pk}/change/").context["adminform"].form
    values = {"abstract": "New text.", "title": "Taken", "status": "published", "stream_url": ""}
    values |= {"chat_url": "", "recording_url": ""}
    formsets = {**formset("roles"), **formset("presentations")}
    client.post(f"/admin/schedule/session/{session.pk}/change/", {**values, **formsets})
    session.refresh_from_db()

    assert {*form.fields} == {"abstract", "stream_url", "chat_url", "recording_url"}
    assert (session.abstract, session.title, session.status) == ("New text.", "Ours session", "draft")


def test_author_is_not_restored_to_a_paper_of_another_edition(world: World) -> None:
    own_paper, other_paper = world.rows["papers.paper"], world.other_rows["papers.paper"]
    author = other_paper.authorships.get()
    before = ChangeSet.objects.latest("pk").pk
    author.paper, author.position = own_paper, 0
    author.save()
    after = ChangeSet.objects.latest("pk").pk
    Paper.objects.filter(pk=own_paper.pk).update(track="Theory")
    client, path = world.client("chair"), f"/admin/papers/paper/{own_paper.pk}/history"
    page = client.post(f"{path}/{before}/")

    assert "You don’t have permission to change this: authorship" in page.text
    assert (other_paper.authorships.count(), own_paper.authorships.count()) == (0, 2)
    assert client.post(f"{path}/{after}/").status_code == 302
    assert world.client("superuser").post(f"{path}/{before}/").status_code == 302
    assert (other_paper.authorships.count(), own_paper.authorships.count()) == (1, 1)


@pytest.mark.parametrize(
    "values",
    [
        {"action": "publish"},
        {"action": "publish", "index": "9"},
        {"action": ["", "publish"], "index": "-1"},
        {"action": ["export_csv", "publish"], "index": "5"},
        {"action": ["publish", ""], "index": "0"},
    ],
)
def test_session_chair_cannot_publish_own_session_by_a_forged_action(
    world: World, values: dict[str, Any]
) -> None:
    # The session chair is also an editor of the other edition, whose session remains selected.
    Membership.objects.create(user=world.users["session_chair"], edition=world.other_edition, role="editor")
    client = world.client("session_chair")
    own_session, other_session = world.rows["schedule.session"], world.other_rows["schedule.session"]
    selection = {"_selected_action": [own_session.pk, other_session.pk]}
    page = client.post("/admin/schedule/session/", {**values, **selection}).text

    assert f"/admin/schedule/session/{other_session.pk}/change/" in page
    assert f"/admin/schedule/session/{own_session.pk}/change/" not in page
    assert "1 row was left out because you can view but not change it." in page


def test_only_editors_of_the_edition_see_email_and_former_names(world: World) -> None:
    person = world.rows["people.person"]
    pages = {
        username: world.client(username).get(f"/admin/people/person/{person.pk}/change/").text
        for username in ("viewer", "session_chair", "editor", "other")
    }
    is_found = {
        username: "1 person" in world.client(username).get("/admin/people/person/?q=Ours@example.org").text
        for username in ("viewer", "editor", "other")
    }

    assert {username: "Ours@example.org" in page for username, page in pages.items()} == {
        "viewer": False, "session_chair": False, "editor": True, "other": False,
    }  # fmt: skip
    assert {username: "Ours Formerly" in page for username, page in pages.items()} == {
        "viewer": False, "session_chair": False, "editor": True, "other": False,
    }  # fmt: skip
    assert is_found == {"viewer": False, "editor": True, "other": False}


def merge_by_superuser(world: World) -> tuple[Any, str]:
    """Merge a person of the other edition into one of ours; return the merged person and the undo URL."""
    survivor, merged = world.rows["people.person"], world.other_rows["people.person"]
    change_set = merge.merge(survivor, [merged], user=world.users["superuser"]).change_set
    return merged, reverse("admin:people_person_unmerge", args=[change_set])


@pytest.mark.parametrize("username", ["owner", "editor"])
def test_member_cannot_revert_a_merge_that_moved_rows_of_another_edition(username: str, world: World) -> None:
    merged, undo = merge_by_superuser(world)
    client, before = world.client(username), RowChange.objects.count()
    statuses = [client.get(undo).status_code, client.post(undo).status_code]

    assert (statuses, RowChange.objects.count()) == ([403, 403], before)
    assert undo not in client.get("/admin/people/person/merges/").text
    world.client("superuser").post(undo)
    assert merged.authorships.count() == 1


def test_query_count_of_merge_list_is_the_same_for_2_and_4_merges(world: World) -> None:
    client, query_counts = world.client("owner"), []
    for _ in range(2):
        merge.merge(world.rows["people.person"], [make.make_person("Twin")])
        merge.merge(world.rows["people.person"], [make.make_person("Twin")])
        with CaptureQueriesContext(connection) as queries:
            client.get("/admin/people/person/merges/")
        query_counts.append(len(queries))

    assert query_counts[0] == query_counts[1]


def test_owner_cannot_revert_a_split_that_moved_rows_of_another_edition(world: World) -> None:
    person, authorship = world.rows["people.person"], world.other_rows["papers.authorship"]
    type(authorship).objects.filter(pk=authorship.pk).update(person=person)
    new = split.split(person, "Twin", {type(authorship): [authorship.pk]})
    make.add_role(world.rows["schedule.session"], new)
    undo = reverse("admin:people_person_unsplit", args=[split.split_change_sets().get().pk])
    client = world.client("owner")

    assert [client.get(undo).status_code, client.post(undo).status_code] == [403, 403]
    assert new.authorships.count() == 1
