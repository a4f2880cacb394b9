"""Edit conflicts in forms: the second save is rejected, and both versions can be merged."""

import re
from html import unescape
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conference.models import Edition
from content.history import RowChange
from content.versions import field_marks
from papers.admin.papers import PaperAdmin
from papers.models import Authorship, Paper
from schedule.models import Session
from tests import factories as make
from tests.admin_forms import admin_url, formset

pytestmark = pytest.mark.django_db


@pytest.fixture
def chair(admin_client: Client) -> Client:
    return admin_client


def form_token(client: Client, row: Any) -> str:
    """Return the hidden version token of a row's form."""
    html = client.get(admin_url(row, "change")).text
    return re.search(r'name="_seen" value="([^"]+)"', html)[1]  # type: ignore[index]


def form_data(paper: Paper, token: str, authors: Any = None, **fields: Any) -> dict[str, Any]:
    """Return the form data of a paper, with these fields changed."""
    paper = Paper.objects.get(pk=paper.pk)
    values = {"title": paper.title, "status": paper.status, "abstract": paper.abstract, "track": paper.track}
    rows = (
        authors
        if authors is not None
        else [author_row(row) for row in paper.authorships.order_by("position")]
    )
    inlines = formset("authorships", rows) | formset("materials") | formset("presentations")
    return {**values, **inlines, **fields, "_seen": token}


def author_row(row: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": row.pk,
        "paper": row.paper_id,
        "position": row.position,
        "person": row.person_id,
        "name": row.name,
        **fields,
    }


def hidden_fields(response: Any) -> dict[str, Any]:
    """Return the hidden inputs and the preselected choices of the page with both versions."""
    html = response.text
    hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', html)
    choices = re.findall(r'name="([^"]+)" value="(theirs|mine)" checked', html)
    return {unescape(name): unescape(value) for name, value in [*hidden, *choices]}


def open_choices(response: Any) -> list[str]:
    return sorted(set(re.findall(r'type="radio" name="_choose-([^"]+)"', response.text)))


def test_trap_19_row_changed_while_the_form_is_rendered_is_rejected(
    chair: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    author = make.make_paper(edition, ["Ada Lovelace"]).authorships.get()
    get_inline_formsets = PaperAdmin.get_inline_formsets

    def update_while_rendering(self: PaperAdmin, request: Any, formsets: Any, *args: Any) -> Any:
        forms = [list(inline.forms) for inline in formsets]
        Authorship.objects.filter(pk=author.pk).update(name="A. Lovelace")
        assert forms
        return get_inline_formsets(self, request, formsets, *args)

    monkeypatch.setattr(PaperAdmin, "get_inline_formsets", update_while_rendering)
    token = form_token(chair, author.paper)
    monkeypatch.undo()
    data = form_data(author.paper, token, [author_row(author, name="Ada L.")])

    assert chair.post(admin_url(author.paper, "change"), data).status_code == 409
    assert Authorship.objects.get().name == "A. Lovelace"


def test_trap_19_second_save_is_rejected_with_both_versions(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, title="First")
    token = form_token(chair, paper)
    first_data, second_data = form_data(paper, token, title="By A"), form_data(paper, token, track="By B")
    assert chair.post(admin_url(paper, "change"), first_data).status_code == 302
    response = chair.post(admin_url(paper, "change"), second_data)

    assert response.status_code == 409
    assert Paper.objects.get().title == "By A"
    assert open_choices(response) == ["title", "track"]
    assert chair.post(admin_url(paper, "change"), hidden_fields(response)).status_code == 302
    assert (Paper.objects.get().title, Paper.objects.get().track) == ("By A", "By B")


def test_trap_19_field_changed_on_both_sides_needs_a_choice(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, title="First")
    token = form_token(chair, paper)
    Paper.objects.update(title="By A")
    response = chair.post(admin_url(paper, "change"), form_data(paper, token, title="By B"))
    undecided = chair.post(admin_url(paper, "change"), hidden_fields(response))

    assert [response.status_code, undecided.status_code] == [409, 409]
    assert Paper.objects.get().title == "By A"
    for choice, title in (("theirs", "By A"), ("mine", "By B")):
        chair.post(admin_url(paper, "change"), {**hidden_fields(response), "_choose-title": choice})
        assert Paper.objects.get().title == title


def test_trap_19_inline_conflict_is_rejected_and_merged(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada", "Bob", "Cyd"])
    ada, bob, cyd = paper.authorships.order_by("position")
    token = form_token(chair, paper)
    rows = [author_row(ada), author_row(bob, name="Robert"), author_row(cyd)]
    data = form_data(paper, token, rows)
    ada.name = "Ada Lovelace"
    ada.save()
    cyd.delete()
    response = chair.post(admin_url(paper, "change"), data)

    assert open_choices(response) == ["authorships-0-name", "authorships-1-name", "authorships-2"]
    assert chair.post(admin_url(paper, "change"), hidden_fields(response)).status_code == 302
    assert list(paper.authorships.order_by("position").values_list("position", "name")) == [
        (1, "Ada Lovelace"),
        (2, "Robert"),
    ]


def test_inline_row_deleted_by_another_user_can_be_kept(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada", "Bob"])
    ada, bob = paper.authorships.order_by("position")
    token = form_token(chair, paper)
    data = form_data(paper, token, [author_row(ada, name="A. L."), author_row(bob)])
    ada.delete()
    response = chair.post(admin_url(paper, "change"), data)
    # Ada's deletion moved Bob up, which is merged automatically; only Ada's row needs a choice.
    assert re.findall(r'name="(\S+)" value="\w+" checked', response.text) == [
        "_choose-authorships-1-position"
    ]
    chair.post(admin_url(paper, "change"), {**hidden_fields(response), "_choose-authorships-0": "mine"})

    assert sorted(paper.authorships.values_list("name", flat=True)) == ["A. L.", "Bob"]


@pytest.mark.parametrize("count", ["x", "", "-1", "9" * 9, "9" * 5000])
def test_forged_number_of_inline_rows_changes_nothing(
    chair: Client, edition: Edition, count: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Django creates up to twice as many forms, which takes seconds with its default of 1000.
    monkeypatch.setattr("django.forms.formsets.DEFAULT_MAX_NUM", 20)
    paper = make.make_paper(edition, ["Ada", "Bob"])
    ada, bob = paper.authorships.order_by("position")
    token = form_token(chair, paper)
    data = form_data(paper, token, [author_row(ada, name="A. L."), author_row(bob)])
    ada.delete()
    response = chair.post(admin_url(paper, "change"), data)
    forged = {"authorships-TOTAL_FORMS": count, "authorships-INITIAL_FORMS": count}
    response = chair.post(
        admin_url(paper, "change"), {**hidden_fields(response), **forged, "_choose-authorships-0": "mine"}
    )

    assert response.status_code in {200, 302, 409}
    assert [*paper.authorships.values_list("name", flat=True)] == ["Bob"]


def test_inline_row_added_by_another_user_stays(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada"])
    token = form_token(chair, paper)
    data = form_data(paper, token, title="Mine")
    make.add_author(paper, "Bob")
    response = chair.post(admin_url(paper, "change"), data)
    assert open_choices(response) == ["title"]
    chair.post(admin_url(paper, "change"), hidden_fields(response))

    assert (Paper.objects.get().title, paper.authorships.count()) == ("Mine", 2)


def test_row_deleted_in_the_form_and_changed_elsewhere_needs_a_choice(
    chair: Client, edition: Edition
) -> None:
    paper = make.make_paper(edition, ["Ada"])
    ada = paper.authorships.get()
    token = form_token(chair, paper)
    data = form_data(paper, token, [author_row(ada, DELETE="on")])
    ada.name = "Ada Lovelace"
    ada.save()
    response = chair.post(admin_url(paper, "change"), data)
    assert open_choices(response) == ["authorships-0-DELETE"]
    chair.post(
        admin_url(paper, "change"), {**hidden_fields(response), "_choose-authorships-0-DELETE": "theirs"}
    )

    assert paper.authorships.get().name == "Ada Lovelace"


def test_change_after_the_choice_is_rejected_again(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, title="First")
    token = form_token(chair, paper)
    data = form_data(paper, token, track="Mine")
    Paper.objects.update(title="A")
    response = chair.post(admin_url(paper, "change"), data)
    Paper.objects.update(title="C")
    second_response = chair.post(admin_url(paper, "change"), hidden_fields(response))

    assert second_response.status_code == 409
    assert "there was another change" in second_response.text
    chair.post(admin_url(paper, "change"), hidden_fields(second_response))
    assert (Paper.objects.get().title, Paper.objects.get().track) == ("C", "Mine")


def test_form_without_conflict_is_saved(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada"], abstract="Two\nlines")
    data = form_data(paper, form_token(chair, paper), title="New", abstract="Two\r\nlines")
    response = chair.post(admin_url(paper, "change"), data)

    assert (response.status_code, Paper.objects.get().title) == (302, "New")
    assert RowChange.objects.filter(kind="changed").get().values == {"title": [paper.title, "New"]}


def test_same_change_on_both_sides_is_no_conflict(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, title="First")
    token = form_token(chair, paper)
    Paper.objects.update(title="Same")

    assert chair.post(admin_url(paper, "change"), form_data(paper, token, title="Same")).status_code == 302


def test_times_are_compared_in_the_zone_of_the_edition(chair: Client, edition: Edition) -> None:
    session = make.make_session(edition)
    token = form_token(chair, session)
    Session.objects.update(start=make.MORNING.replace(hour=14))
    values = {"kind": "oral", "status": "published", "title": session.title, "_seen": token}
    times = {"start_0": "2021-04-06", "start_1": "08:00:00", "end_0": "2021-04-06", "end_1": "09:00:00"}
    response = chair.post(
        admin_url(session, "change"), values | times | formset("roles") | formset("presentations")
    )

    assert open_choices(response) == ["start"]
    assert "2021-04-06 07:00 PDT" in response.text
    chair.post(admin_url(session, "change"), hidden_fields(response))
    assert Session.objects.get().start.hour == 14


@pytest.mark.parametrize(
    ("date", "time", "shown"),
    [("2021-04-06", "25:00", "2021-04-06 25:00"), ("2021-03-14", "02:30", "2021-03-14 02:30"), ("", "", "–")],
)
def test_invalid_times_of_an_outdated_form_are_shown_as_posted(
    chair: Client, edition: Edition, date: str, time: str, shown: str
) -> None:
    session = make.make_session(edition)
    token = form_token(chair, session)
    Session.objects.update(start=make.MORNING.replace(hour=14))
    values = {"kind": "oral", "status": "published", "title": session.title, "_seen": token}
    times = {"start_0": date, "start_1": time, "end_0": "2021-04-06", "end_1": "09:00:00"}
    response = chair.post(
        admin_url(session, "change"), values | times | formset("roles") | formset("presentations")
    )
    (difference,) = [row for row in response.context["differences"] if row["name"] == "_choose-start"]

    assert response.status_code == 409
    assert (difference["theirs"], difference["mine"]) == ("2021-04-06 07:00 PDT", shown)


def test_query_count_is_the_same_for_1_and_3_rows(chair: Client, edition: Edition) -> None:
    counts = []
    for row_count in (1, 3):
        paper = make.make_paper(edition, [f"Ada {n}" for n in range(row_count)])
        data = form_data(paper, form_token(chair, paper))
        with CaptureQueriesContext(connection) as queries:
            assert chair.post(admin_url(paper, "change"), data).status_code == 302
        counts.append(len(queries))

    # PostgreSQL also locks the paper for its authors and for its materials.
    assert counts == ([41, 41] if connection.features.has_select_for_update else [39, 39])


def test_forged_token_is_rejected(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, title="First")

    assert chair.post(admin_url(paper, "change"), form_data(paper, "forged", title="X")).status_code == 409
    assert Paper.objects.get().title == "First"


def test_marks_depend_on_fields_and_many_to_many_relations(edition: Edition) -> None:
    names = ["name", "corresponding", "institutions"]
    author = make.add_author(make.make_paper(edition), "Ada")
    marks = {field_marks(author, names)}
    author.corresponding = True
    author.save()
    marks.add(field_marks(author, names))
    author.institutions.add(make.make_institution())
    marks.add(field_marks(author, names))
    author.save()

    assert field_marks(type(author).objects.get(), names) in marks
    assert len(marks) == 3


# Lists with columns to edit


@pytest.fixture
def track_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin.site.get_model_admin(Paper), "list_editable", ("track", "status"))


@pytest.mark.usefixtures("track_column")
def test_trap_19_list_editable_conflict_is_rejected_and_merged(chair: Client, edition: Edition) -> None:
    first, second = make.make_paper(edition, title="A"), make.make_paper(edition, title="B")
    html = chair.get(admin_url(Paper, "changelist")).text
    token = re.search(r'name="form-_seen" value="([^"]+)"', html)[1]  # type: ignore[index]
    rows = [
        {"id": first.pk, "track": "Mine", "status": "published"},
        {"id": second.pk, "track": "Mine too", "status": "published"},
    ]
    data = formset("form", rows) | {"_save": "Save", "form-_seen": token}
    Paper.objects.filter(pk=first.pk).update(track="Theirs")
    Paper.objects.filter(pk=second.pk).update(status="draft")
    response = chair.post(admin_url(Paper, "changelist"), data)

    assert response.status_code == 409
    assert open_choices(response) == ["form-0-track", "form-1-status", "form-1-track"]
    choices = {**hidden_fields(response), "_choose-form-0-track": "theirs"}
    assert chair.post(admin_url(Paper, "changelist"), choices).status_code == 302
    assert list(Paper.objects.order_by("pk").values_list("track", "status")) == [
        ("Theirs", "published"),
        ("Mine too", "draft"),
    ]


@pytest.mark.usefixtures("track_column")
def test_list_without_conflict_is_saved(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition)
    html = chair.get(admin_url(Paper, "changelist")).text
    token = re.search(r'name="form-_seen" value="([^"]+)"', html)[1]  # type: ignore[index]
    rows = [{"id": paper.pk, "track": "Mine", "status": "published"}]
    response = chair.post(
        admin_url(Paper, "changelist"), formset("form", rows) | {"_save": "1", "form-_seen": token}
    )

    assert (response.status_code, Paper.objects.get().track) == (302, "Mine")
