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
from tests.access.permission_table import BESIDE, MODELS
from tests.access.test_admin_model_urls import opened
from tests.access.world import EVERYBODY, MARKER, World
from tests.posted import formset

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def merged_into(row: Any) -> int:
    """Return the key of the change set that merged another row into this one; merge one if necessary."""
    name = f"{row._meta.label_lower}:{row.pk}"
    act = ChangeSet.objects.filter(origin=Origin.MERGE, reference=name).first()
    other = make.make_person("Twin") if row._meta.model_name == "person" else make.make_institution("Twin")
    return act.pk if act else merge.merge(row, [other]).change_set


def split_from(person: Any, user: User) -> int:
    """Return the key of the change set in which an account split another from a person."""
    if not split.split_change_sets().exists():
        spelling = person.names.earliest("pk")
        with acting_as(Origin.FORM, user):
            split.split(person, "Twin", {type(spelling): [spelling.pk]})
    return int(split.split_change_sets().get().pk)


def acted_on(paper: Any) -> int:
    """Return the key of the change set of a bulk action that changed this paper."""
    with recording(Origin.ACTION, detail="Set track"):
        type(paper).objects.filter(pk=paper.pk).update(track="Theory")
    return ChangeSet.objects.filter(origin=Origin.ACTION).latest("pk").pk


def address(name: str, world: World) -> str:
    """Return a URL that belongs to no model, for the edition and its rows."""
    rows, edition = world.rows, world.edition
    session = ["session_announce", "session_boards", "session_board_labels", "session_talks"]
    args: dict[str, Any] = {
        "app_list": ["papers"],
        "view_on_site": [ContentType.objects.get_for_model(rows["papers.paper"]).pk, rows["papers.paper"].pk],
        "auth_user_password_change": [world.users["superuser"].pk],
        "exchange_importjob_progress": [rows["exchange.importjob"].pk],
        "exchange_importrun_undo": [rows["exchange.importrun"].pk],
        "accounts_membership_revoke": [Invitation.objects.get().pk],
        "accounts_membership_send": [Invitation.objects.get().pk],
        "people_person_split": [rows["people.person"].pk],
        "take_back": [acted_on(rows["papers.paper"])],
        "people_person_unsplit": [split_from(rows["people.person"], world.users["owner"])],
        "people_person_unmerge": [merged_into(rows["people.person"])],
        "people_institution_unmerge": [merged_into(rows["people.institution"])],
        **{f"conference_edition_{page}": [edition.pk] for page in ("as_public", "preview", "publish")},
        **{f"schedule_{page}": [rows["schedule.session"].pk] for page in session},
    }
    path = reverse(f"admin:{name}", args=args.get(name, []))
    asked = {"app_label": "papers", "model_name": "authorship", "field_name": "paper"}
    query = "&".join(f"{key}={value}" for key, value in asked.items())
    return f"{path}?{query}" if name == "autocomplete" else f"{path}?edition={edition.pk}"


# By POST alone, or not for signed-in users.
SKIPPED = {"login", "logout", "text_help"}


@pytest.mark.parametrize("who", [one for one in EVERYBODY if one not in ("other", "superuser")])
def test_addresses_beside_models_open_as_the_table_says(who: str, world: World) -> None:
    Invitation.objects.create(
        edition=world.edition, role="viewer", name="A", email="a@example.org", digest="x",
        expires_at=make.PAST,
    )  # fmt: skip
    client, wrong = world.client(who), []
    closed = "login" if who == "anonymous" else "closed"
    for name in BESIDE:
        if name in SKIPPED or (name == "jsi18n" and who == "anonymous"):
            continue
        found = opened(client.get(address(name, world)))
        if found != ("open" if who in BESIDE[name] else closed):
            wrong.append(f"{name}: {found}")

    assert wrong == []


@pytest.mark.parametrize("who", Role.values)
def test_nothing_of_the_other_edition_is_told(who: str, world: World) -> None:
    client = world.client(who)
    other = world.other.pk
    paths = [reverse(f"admin:{label.replace('.', '_')}_changelist") for label in MODELS]
    paths += [f"{path}?q={MARKER.lower()}" for path in paths]
    paths += ["/admin/", f"/admin/?edition={other}", f"/admin/schedule/session/clashes/?edition={other}"]
    paths += [f"/admin/papers/paper/?edition__id__exact={other}", f"/admin/papers/paper/add/?edition={other}"]
    paths += [f"/admin/accounts/membership/?edition={other}"]
    choices = [("authorship", "paper"), ("paper", "edition"), ("paper", "topic"), ("authorship", "person")]
    for model, field in choices:
        query = f"app_label=papers&model_name={model}&field_name={field}&term={MARKER}&edition={other}"
        paths.append(f"/admin/autocomplete/?{query}")
    # The page repeats the query in lower case, so the marker does not match it.
    assert [path for path in paths if MARKER in client.get(path).text] == []


def sent(world: World, rows: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return requests that could change these rows, as paths and data, whether or not a form offers them."""
    paper, session = rows["papers.paper"], rows["schedule.session"]
    posts: list[tuple[str, dict[str, Any]]] = []
    for label, row in rows.items():
        page = f"/admin/{label.replace('.', '/')}/"
        posts.append((f"{page}{row.pk}/change/", {"title": "Taken", "name": "Taken", "status": "published"}))
        posts.append((f"{page}{row.pk}/delete/", {"post": "yes"}))
    chosen = {"_selected_action": [paper.pk], "index": "0"}
    posts.append(("/admin/papers/paper/", {"action": "publish", **chosen}))
    posts.append(("/admin/papers/paper/", {"action": "delete_selected", "post": "yes", **chosen}))
    posts.append(("/admin/schedule/session/", {"action": "cancel", "_selected_action": [session.pk]}))
    posts.append((f"/admin/exchange/importrun/{rows['exchange.importrun'].pk}/undo/", {}))
    posts.append((f"/admin/conference/edition/{world.edition.pk}/publish/", {"when": "now"}))
    return posts


@pytest.mark.parametrize("who", ["anonymous", "viewer", "other"])
def test_nothing_changes_for_those_who_may_not(who: str, world: World) -> None:
    client = world.client(who)
    before = RowChange.objects.count(), Membership.objects.count()
    for path, values in sent(world, world.rows):
        if path:
            client.post(path, values)

    assert (RowChange.objects.count(), Membership.objects.count()) == before


def test_nothing_of_the_other_edition_changes_for_an_owner(world: World) -> None:
    client = world.client("owner")
    before = RowChange.objects.filter(edition_key=world.other.pk).count()
    for path, values in sent(world, world.others):
        client.post(path, values)

    assert RowChange.objects.filter(edition_key=world.other.pk).count() == before
    assert Membership.objects.filter(edition=world.other).count() == 1


def test_row_cannot_be_added_to_another_edition(world: World) -> None:
    client = world.client("editor")
    page = client.post("/admin/papers/topic/add/", {"edition": world.other.pk, "name": "T", "slug": "t"})

    assert "Select a valid choice" in page.text
    assert world.other.topics.count() == 1


def test_session_chair_changes_text_and_order_but_no_more(world: World) -> None:
    client, session = world.client("session_chair"), world.rows["schedule.session"]
    form = client.get(f"/admin/schedule/session/{session.pk}/change/").context["adminform"].form
    values = {"abstract": "New text.", "title": "Taken", "status": "published", "stream_url": ""}
    values |= {"chat_url": "", "recording_url": ""}
    sets = {**formset("roles"), **formset("presentations")}
    client.post(f"/admin/schedule/session/{session.pk}/change/", {**values, **sets})
    session.refresh_from_db()

    assert {*form.fields} == {"abstract", "stream_url", "chat_url", "recording_url"}
    assert (session.abstract, session.title, session.status) == ("New text.", "Ours session", "draft")


def test_author_is_not_restored_to_a_paper_of_another_edition(world: World) -> None:
    ours, theirs = world.rows["papers.paper"], world.others["papers.paper"]
    author = theirs.authorships.get()
    before = ChangeSet.objects.latest("pk").pk
    author.paper, author.position = ours, 0
    author.save()
    came = ChangeSet.objects.latest("pk").pk
    Paper.objects.filter(pk=ours.pk).update(track="Theory")
    client, path = world.client("chair"), f"/admin/papers/paper/{ours.pk}/history"
    page = client.post(f"{path}/{before}/")

    assert "You don’t have permission to change this: authorship" in page.text
    assert (theirs.authorships.count(), ours.authorships.count()) == (0, 2)
    assert client.post(f"{path}/{came}/").status_code == 302
    assert world.client("superuser").post(f"{path}/{before}/").status_code == 302
    assert (theirs.authorships.count(), ours.authorships.count()) == (1, 1)


def also_editor_of_the_other(world: World) -> Any:
    """Return a client of the session chair, who is also an editor of the other edition."""
    Membership.objects.create(user=world.users["session_chair"], edition=world.other, role="editor")
    return world.client("session_chair")


@pytest.mark.parametrize(
    "sent",
    [
        {"action": "publish"},
        {"action": "publish", "index": "9"},
        {"action": ["", "publish"], "index": "-1"},
        {"action": ["export_csv", "publish"], "index": "5"},
        {"action": ["publish", ""], "index": "0"},
    ],
)
def test_session_is_not_published_by_its_chair_however_the_action_is_named(
    world: World, sent: dict[str, Any]
) -> None:
    client = also_editor_of_the_other(world)
    ours, theirs = world.rows["schedule.session"], world.others["schedule.session"]
    page = client.post("/admin/schedule/session/", {**sent, "_selected_action": [ours.pk, theirs.pk]}).text

    assert f"/admin/schedule/session/{theirs.pk}/change/" in page
    assert f"/admin/schedule/session/{ours.pk}/change/" not in page
    assert "1 row was left out because you can view but not change it." in page


def test_email_and_former_names_are_for_those_who_keep_people(world: World) -> None:
    person = world.rows["people.person"]
    pages = {
        who: world.client(who).get(f"/admin/people/person/{person.pk}/change/").text
        for who in ("viewer", "session_chair", "editor", "other")
    }
    found = {
        who: "1 person" in world.client(who).get("/admin/people/person/?q=Ours@example.org").text
        for who in ("viewer", "editor", "other")
    }

    assert {who: "Ours@example.org" in page for who, page in pages.items()} == {
        "viewer": False, "session_chair": False, "editor": True, "other": False,
    }  # fmt: skip
    assert {who: "Ours Formerly" in page for who, page in pages.items()} == {
        "viewer": False, "session_chair": False, "editor": True, "other": False,
    }  # fmt: skip
    assert found == {"viewer": False, "editor": True, "other": False}


def merged_by_the_whole_site(world: World) -> tuple[Any, str]:
    """Merge a person of the other edition into one of ours; return the merged person and the undo URL."""
    survivor, gone = world.rows["people.person"], world.others["people.person"]
    act = merge.merge(survivor, [gone], user=world.users["superuser"]).change_set
    return gone, reverse("admin:people_person_unmerge", args=[act])


@pytest.mark.parametrize("who", ["owner", "editor"])
def test_merge_that_moved_rows_of_another_edition_is_not_taken_back_here(who: str, world: World) -> None:
    gone, undo = merged_by_the_whole_site(world)
    client, before = world.client(who), RowChange.objects.count()
    answers = [client.get(undo).status_code, client.post(undo).status_code]

    assert (answers, RowChange.objects.count()) == ([403, 403], before)
    assert undo not in client.get("/admin/people/person/merges/").text
    world.client("superuser").post(undo)
    assert gone.authorships.count() == 1


def test_list_of_merges_asks_as_much_for_one_as_for_three(world: World) -> None:
    client, asked = world.client("owner"), []
    for _ in range(2):
        merge.merge(world.rows["people.person"], [make.make_person("Twin")])
        merge.merge(world.rows["people.person"], [make.make_person("Twin")])
        with CaptureQueriesContext(connection) as queries:
            page = client.get("/admin/people/person/merges/")
        asked.append((len(queries), page.text.count("/admin/people/person/merges/")))

    assert [count for count, _ in asked] == [asked[0][0]] * 2


def test_split_that_moved_rows_of_another_edition_is_not_taken_back_here(world: World) -> None:
    person, authorship = world.rows["people.person"], world.others["papers.authorship"]
    type(authorship).objects.filter(pk=authorship.pk).update(person=person)
    new = split.split(person, "Twin", {type(authorship): [authorship.pk]})
    make.add_role(world.rows["schedule.session"], new)
    undo = reverse("admin:people_person_unsplit", args=[split.split_change_sets().get().pk])
    client = world.client("owner")

    assert [client.get(undo).status_code, client.post(undo).status_code] == [403, 403]
    assert new.authorships.count() == 1
