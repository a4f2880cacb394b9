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
from content.versions import digest
from papers.admin.papers import PaperAdmin
from papers.models import Authorship, Paper
from schedule.models import Session
from tests import factories as make
from tests.posted import address, formset

pytestmark = pytest.mark.django_db
TAG = re.compile(r"<(input|textarea|select)\b[^>]*>(?:([^<]*)</textarea>|(.*?)</select>)?", re.DOTALL)


@pytest.fixture
def chair(admin_client: Client) -> Client:
    return admin_client


def form_token(client: Client, row: Any) -> str:
    """Return the hidden version token of a row's form."""
    html = client.get(address(row, "change")).text
    return re.search(r'name="_seen" value="([^"]+)"', html)[1]  # type: ignore[index]


def form_data(paper: Paper, seen: str, authors: Any = None, **fields: Any) -> dict[str, Any]:
    """Return the form data of a paper, with these fields changed."""
    paper = Paper.objects.get(pk=paper.pk)
    values = {"title": paper.title, "status": paper.status, "abstract": paper.abstract, "track": paper.track}
    rows = (
        authors
        if authors is not None
        else [author_row(row) for row in paper.authorships.order_by("position")]
    )
    inlines = formset("authorships", rows) | formset("materials") | formset("presentations")
    return {**values, **inlines, **fields, "_seen": seen}


def author_row(row: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": row.pk,
        "paper": row.paper_id,
        "position": row.position,
        "person": row.person_id,
        "name": row.name,
        **fields,
    }


def hidden_fields(answer: Any) -> dict[str, Any]:
    """Return the hidden inputs and the preselected choices of the page with both versions."""
    html = answer.text
    hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', html)
    made = re.findall(r'name="([^"]+)" value="(theirs|mine)" checked', html)
    return {unescape(name): unescape(value) for name, value in [*hidden, *made]}


def open_choices(answer: Any) -> list[str]:
    return sorted(set(re.findall(r'type="radio" name="_choose-([^"]+)"', answer.text)))


# TRAP 19


def test_trap_19_row_that_changes_while_a_form_is_made_is_refused(
    chair: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    author = make.make_paper(edition, ["Ada Lovelace"]).authorships.get()
    made = PaperAdmin.get_inline_formsets

    def changed_behind(self: PaperAdmin, request: Any, formsets: Any, *arguments: Any) -> Any:
        shown = [list(one.forms) for one in formsets]
        Authorship.objects.filter(pk=author.pk).update(name="A. Lovelace")
        assert shown
        return made(self, request, formsets, *arguments)

    monkeypatch.setattr(PaperAdmin, "get_inline_formsets", changed_behind)
    seen = form_token(chair, author.paper)
    monkeypatch.undo()
    mine = form_data(author.paper, seen, [author_row(author, name="Ada L.")])

    assert chair.post(address(author.paper, "change"), mine).status_code == 409
    assert Authorship.objects.get().name == "A. Lovelace"


def test_trap_19_lost_update_in_a_form_is_refused_with_both_versions(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, title="First")
    seen = form_token(chair, paper)
    one, two = form_data(paper, seen, title="By A"), form_data(paper, seen, track="By B")
    assert chair.post(address(paper, "change"), one).status_code == 302
    answer = chair.post(address(paper, "change"), two)

    assert answer.status_code == 409
    assert Paper.objects.get().title == "By A"
    assert open_choices(answer) == ["title", "track"]
    assert chair.post(address(paper, "change"), hidden_fields(answer)).status_code == 302
    assert (Paper.objects.get().title, Paper.objects.get().track) == ("By A", "By B")


def test_trap_19_field_changed_on_both_sides_asks_for_a_decision(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, title="First")
    seen = form_token(chair, paper)
    Paper.objects.update(title="By A")
    answer = chair.post(address(paper, "change"), form_data(paper, seen, title="By B"))
    undecided = chair.post(address(paper, "change"), hidden_fields(answer))

    assert [answer.status_code, undecided.status_code] == [409, 409]
    assert Paper.objects.get().title == "By A"
    for choice, title in (("theirs", "By A"), ("mine", "By B")):
        chair.post(address(paper, "change"), {**hidden_fields(answer), "_choose-title": choice})
        assert Paper.objects.get().title == title


def test_trap_19_inline_is_refused_and_merged(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada", "Bob", "Cyd"])
    ada, bob, cyd = paper.authorships.order_by("position")
    seen = form_token(chair, paper)
    rows = [author_row(ada), author_row(bob, name="Robert"), author_row(cyd)]
    mine = form_data(paper, seen, rows)
    ada.name = "Ada Lovelace"
    ada.save()
    cyd.delete()
    answer = chair.post(address(paper, "change"), mine)

    assert open_choices(answer) == ["authorships-0-name", "authorships-1-name", "authorships-2"]
    assert chair.post(address(paper, "change"), hidden_fields(answer)).status_code == 302
    assert list(paper.authorships.order_by("position").values_list("position", "name")) == [
        (1, "Ada Lovelace"),
        (2, "Robert"),
    ]


def test_row_that_somebody_deleted_can_be_kept(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada", "Bob"])
    ada, bob = paper.authorships.order_by("position")
    seen = form_token(chair, paper)
    mine = form_data(paper, seen, [author_row(ada, name="A. L."), author_row(bob)])
    ada.delete()
    answer = chair.post(address(paper, "change"), mine)
    # Ada's deletion moved Bob up, which is merged automatically; only Ada's row needs a choice.
    assert re.findall(r'name="(\S+)" value="\w+" checked', answer.text) == ["_choose-authorships-1-position"]
    chair.post(address(paper, "change"), {**hidden_fields(answer), "_choose-authorships-0": "mine"})

    assert sorted(paper.authorships.values_list("name", flat=True)) == ["A. L.", "Bob"]


@pytest.mark.parametrize("count", ["x", "", "-1", "9" * 9, "9" * 5000])
def test_forged_number_of_rows_changes_nothing(
    chair: Client, edition: Edition, count: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Django creates up to twice as many forms, which takes seconds with its default of 1000.
    monkeypatch.setattr("django.forms.formsets.DEFAULT_MAX_NUM", 20)
    paper = make.make_paper(edition, ["Ada", "Bob"])
    ada, bob = paper.authorships.order_by("position")
    seen = form_token(chair, paper)
    mine = form_data(paper, seen, [author_row(ada, name="A. L."), author_row(bob)])
    ada.delete()
    answer = chair.post(address(paper, "change"), mine)
    forged = {"authorships-TOTAL_FORMS": count, "authorships-INITIAL_FORMS": count}
    answer = chair.post(
        address(paper, "change"), {**hidden_fields(answer), **forged, "_choose-authorships-0": "mine"}
    )

    assert answer.status_code in {200, 302, 409}
    assert [*paper.authorships.values_list("name", flat=True)] == ["Bob"]


def test_row_that_somebody_added_stays(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada"])
    seen = form_token(chair, paper)
    mine = form_data(paper, seen, title="Mine")
    make.add_author(paper, "Bob")
    answer = chair.post(address(paper, "change"), mine)
    assert open_choices(answer) == ["title"]
    chair.post(address(paper, "change"), hidden_fields(answer))

    assert (Paper.objects.get().title, paper.authorships.count()) == ("Mine", 2)


def test_row_deleted_here_and_changed_there_asks(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada"])
    ada = paper.authorships.get()
    seen = form_token(chair, paper)
    mine = form_data(paper, seen, [author_row(ada, DELETE="on")])
    ada.name = "Ada Lovelace"
    ada.save()
    answer = chair.post(address(paper, "change"), mine)
    assert open_choices(answer) == ["authorships-0-DELETE"]
    chair.post(address(paper, "change"), {**hidden_fields(answer), "_choose-authorships-0-DELETE": "theirs"})

    assert paper.authorships.get().name == "Ada Lovelace"


def test_change_after_the_choice_is_refused_again(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, title="First")
    seen = form_token(chair, paper)
    mine = form_data(paper, seen, track="Mine")
    Paper.objects.update(title="A")
    answer = chair.post(address(paper, "change"), mine)
    Paper.objects.update(title="C")
    again = chair.post(address(paper, "change"), hidden_fields(answer))

    assert again.status_code == 409
    assert "there was another change" in again.text
    chair.post(address(paper, "change"), hidden_fields(again))
    assert (Paper.objects.get().title, Paper.objects.get().track) == ("C", "Mine")


def test_form_that_nobody_overtook_is_saved(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, ["Ada"], abstract="Two\nlines")
    mine = form_data(paper, form_token(chair, paper), title="New", abstract="Two\r\nlines")
    answer = chair.post(address(paper, "change"), mine)

    assert (answer.status_code, Paper.objects.get().title) == (302, "New")
    assert RowChange.objects.filter(kind="changed").get().values == {"title": [paper.title, "New"]}


def test_same_change_on_both_sides_is_no_conflict(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, title="First")
    seen = form_token(chair, paper)
    Paper.objects.update(title="Same")

    assert chair.post(address(paper, "change"), form_data(paper, seen, title="Same")).status_code == 302


def test_times_are_compared_in_the_zone_of_the_edition(chair: Client, edition: Edition) -> None:
    session = make.make_session(edition)
    seen = form_token(chair, session)
    Session.objects.update(start=make.MORNING.replace(hour=14))
    values = {"kind": "oral", "status": "published", "title": session.title, "_seen": seen}
    times = {"start_0": "2021-04-06", "start_1": "08:00:00", "end_0": "2021-04-06", "end_1": "09:00:00"}
    answer = chair.post(
        address(session, "change"), values | times | formset("roles") | formset("presentations")
    )

    assert open_choices(answer) == ["start"]
    assert "2021-04-06 07:00 PDT" in answer.text
    chair.post(address(session, "change"), hidden_fields(answer))
    assert Session.objects.get().start.hour == 14


def test_check_asks_as_much_for_three_rows_as_for_one(chair: Client, edition: Edition) -> None:
    counts = []
    for rows in (1, 3):
        paper = make.make_paper(edition, [f"Ada {n}" for n in range(rows)])
        mine = form_data(paper, form_token(chair, paper))
        with CaptureQueriesContext(connection) as queries:
            assert chair.post(address(paper, "change"), mine).status_code == 302
        counts.append(len(queries))

    assert counts == [38, 38]


def test_token_that_was_written_on_refuses(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, title="First")

    assert chair.post(address(paper, "change"), form_data(paper, "forged", title="X")).status_code == 409
    assert Paper.objects.get().title == "First"


def test_digest_follows_every_recorded_field(edition: Edition) -> None:
    author = make.add_author(make.make_paper(edition), "Ada")
    digests = {digest(author)}
    author.corresponding = True
    author.save()
    digests.add(digest(author))
    author.institutions.add(make.make_institution())
    digests.add(digest(author))
    author.save()

    assert digest(type(author).objects.get()) in digests
    assert len(digests) == 3


# Lists with columns to edit


@pytest.fixture
def track_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin.site.get_model_admin(Paper), "list_editable", ("track", "status"))


@pytest.mark.usefixtures("track_column")
def test_trap_19_list_editable_is_refused_and_merged(chair: Client, edition: Edition) -> None:
    one, two = make.make_paper(edition, title="A"), make.make_paper(edition, title="B")
    html = chair.get(address(Paper, "changelist")).text
    seen = re.search(r'name="form-_seen" value="([^"]+)"', html)[1]  # type: ignore[index]
    rows = [
        {"id": one.pk, "track": "Mine", "status": "published"},
        {"id": two.pk, "track": "Mine too", "status": "published"},
    ]
    mine = formset("form", rows) | {"_save": "Save", "form-_seen": seen}
    Paper.objects.filter(pk=one.pk).update(track="Theirs")
    Paper.objects.filter(pk=two.pk).update(status="draft")
    answer = chair.post(address(Paper, "changelist"), mine)

    assert answer.status_code == 409
    assert open_choices(answer) == ["form-0-track", "form-1-status", "form-1-track"]
    settled = {**hidden_fields(answer), "_choose-form-0-track": "theirs"}
    assert chair.post(address(Paper, "changelist"), settled).status_code == 302
    assert list(Paper.objects.order_by("pk").values_list("track", "status")) == [
        ("Theirs", "published"),
        ("Mine too", "draft"),
    ]


@pytest.mark.usefixtures("track_column")
def test_list_that_nobody_overtook_is_saved(chair: Client, edition: Edition) -> None:
    paper = make.make_paper(edition)
    html = chair.get(address(Paper, "changelist")).text
    seen = re.search(r'name="form-_seen" value="([^"]+)"', html)[1]  # type: ignore[index]
    rows = [{"id": paper.pk, "track": "Mine", "status": "published"}]
    answer = chair.post(
        address(Paper, "changelist"), formset("form", rows) | {"_save": "1", "form-_seen": seen}
    )

    assert (answer.status_code, Paper.objects.get().track) == (302, "Mine")
