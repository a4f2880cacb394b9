"""Every posted form works in Chromium, over https behind nginx, and some over http.

Tests of headers cannot prove that a form works: with `Referrer-Policy: no-referrer`, Chromium sends
`Origin: null`, which the CSRF check rejects. So each posted form of a template, and each script that posts,
has a function here. The first test fails for a form without one.
"""

import re
from collections.abc import Callable, Iterator
from datetime import datetime, time, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import django.contrib.admin
import pytest
from django.conf import settings as site_settings
from django.contrib.admin import site
from django.contrib.auth.models import User
from django.core import mail
from django.db import OperationalError
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from playwright.sync_api import Browser, FilePayload, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from accounts.models import Membership
from conference.models import Edition, Page
from content.history import ChangeSet
from content.unreleased.plan import publishing
from content.unreleased.worker_report import report
from exchange.imports.load import load
from exchange.models import Conflict, ImportJob
from papers.models import Paper, Topic
from people.models import Invitation, Person, PersonPair
from schedule.admin.sessions import RoleInline
from schedule.models import Agenda, Presentation, ProgramInvitation, Release, Session, Unavailability
from tests import factories as make
from tests.access.world import make_world
from tests.admin_forms import admin_url
from tests.browser.visitor import SECURE_HOST, Visitor, create_invitation, nginx
from tests.deploy.test_nginx import NGINX
from tests.exchange.programs import paper as paper_record
from tests.exchange.programs import program
from tests.exchange.uploads import ADD_URL as UPLOAD
from tests.exchange.uploads import papers_file

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "analytical-engine-1843"
DAY, AGENDA = "/2021/schedule/2021-04-06/", "/2021/agenda/"

# The inventory

TEMPLATES = [
    Path(site_settings.BASE_DIR) / "templates",
    Path(django.contrib.admin.__file__).parent / "templates",
]
SCRIPTS = Path(site_settings.BASE_DIR) / "static" / "js"
FORM = re.compile(r"<form\b[^>]*method=\"[^\">]*post", re.IGNORECASE)
# A button that submits its form to another URL than the form's action.
BUTTON_WITH_ACTION = re.compile(r"<button\b[^>]*formaction=", re.IGNORECASE)
FETCH = re.compile(r"method: *[\"']POST", re.IGNORECASE)
# Templates of Django that no URL uses.
UNUSED_TEMPLATES = {
    "registration/password_reset_form.html": "admin_password_reset",
    "registration/password_reset_confirm.html": "password_reset_confirm",
}

# Django checks less of a request over http, so test only one form of each kind there: signed in and not, a
# button with its own URL, a download, a script.
CASES_OVER_HTTP = [
    "announce_a_release",
    "sync_stars_with_the_site",
    "sign_in",
    "sign_out_of_the_desk",
    "star_without_a_script",
    "download_the_agenda_as_files",
]

type Post = Callable[[Visitor], None]
POSTS: dict[str, Post] = {}


def posts(*forms: str) -> Callable[[Post], Post]:
    """Register forms that a function posts: "template", "template 2" for its second, "template button"."""

    def register(function: Post) -> Post:
        for form in forms:
            assert form not in POSTS, form
            POSTS[form] = function
        return function

    return register


def numbered_names(name: str, count: int) -> Iterator[str]:
    for number in range(1, count + 1):
        yield name if number == 1 else f"{name} {number}"


def posted_forms() -> Iterator[str]:
    """Yield the posted forms of all templates and the scripts that post."""
    for folder in TEMPLATES:
        for file in sorted(folder.rglob("*.html")):
            name, text = file.relative_to(folder).as_posix(), file.read_text("utf-8")
            if name not in UNUSED_TEMPLATES:
                yield from numbered_names(name, len(FORM.findall(text)))
                yield from numbered_names(f"{name} button", len(BUTTON_WITH_ACTION.findall(text)))
    for file in sorted(SCRIPTS.rglob("*.js")):
        yield from numbered_names(file.name, len(FETCH.findall(file.read_text("utf-8"))))


def test_every_posted_form_has_a_test() -> None:
    forms = [*posted_forms()]

    assert sorted(forms) == sorted(POSTS)
    assert len(forms) == len({*forms})


def test_unused_templates_have_no_url() -> None:
    for name in UNUSED_TEMPLATES.values():
        for args in ([], ["uid", "token"]):
            with pytest.raises(NoReverseMatch):
                reverse(name, args=args)


# The browser and its server


@pytest.fixture(scope="module")
def https_port(
    live_server: LiveServer, secure_port: int, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[int]:
    """Run nginx in front of the live server, and yield its port; skip the tests if it is not installed."""
    if not Path(NGINX).exists():
        pytest.skip("nginx is not installed (apt-get install nginx-light)")
    with nginx(tmp_path_factory.mktemp("nginx"), live_server.url, secure_port):
        yield secure_port


@pytest.fixture(params=["https"])
def visitor(
    request: pytest.FixtureRequest, browser: Browser, live_server: LiveServer, settings: Settings
) -> Iterator[Visitor]:
    """Yield a visitor; create the superuser "admin", and store e-mails in memory."""
    User.objects.create_superuser("admin", "admin@example.org", PASSWORD)
    settings.MAILERS = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}
    settings.DEFAULT_FROM_EMAIL = "program@example.org"
    if request.param == "http":
        visitor = Visitor(browser, live_server.url)
        yield visitor
        visitor.close()
        return
    request.getfixturevalue("https_port")
    # These are the values of conference.settings if SITE_URL begins with https and BEHIND_PROXY=1.
    settings.SITE_URL = f"https://{SECURE_HOST}"
    settings.ALLOWED_HOSTS = [SECURE_HOST]
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    settings.TRUSTED_PROXIES = 1
    visitor = Visitor(browser, settings.SITE_URL)
    yield visitor
    visitor.close()


# Accounts


def member_of(edition: Edition) -> tuple[str, str]:
    member = Membership.objects.get(edition=edition)
    return member.user.get_username(), member.role


@posts("admin/invitation.html")
def new_account_accepts_an_invitation(visitor: Visitor) -> None:
    edition = make.make_edition()
    visitor.go(create_invitation(edition))
    for field in visitor.page.locator("input[type=password]").all():
        field.fill(PASSWORD)
    visitor.submit()
    visitor.page.wait_for_url("**/admin/?edition=*")

    assert member_of(edition) == ("ada@example.org", "editor")


@posts("admin/invitation.html 2")
def signed_in_account_accepts_an_invitation(visitor: Visitor) -> None:
    edition = make.make_edition()
    visitor.sign_in_and_go(create_invitation(edition))
    visitor.submit()
    visitor.page.wait_for_url("**/admin/?edition=*")

    assert member_of(edition) == ("admin", "editor")


@posts("admin/login.html")
def sign_in(visitor: Visitor) -> None:
    visitor.go("/admin/login/?next=/admin/account/")
    visitor.page.fill("#id_username", "admin")
    visitor.page.fill("#id_password", PASSWORD)
    visitor.submit()
    visitor.page.wait_for_url("**/admin/account/")


def sign_out(visitor: Visitor, path: str) -> None:
    visitor.go(path)
    visitor.press("Log out")
    visitor.page.wait_for_load_state()
    visitor.go("/admin/account/")
    visitor.page.wait_for_url("**/admin/login/**")


@posts("admin/base.html")
def sign_out_of_the_desk(visitor: Visitor) -> None:
    visitor.sign_in()
    sign_out(visitor, "/admin/")


@posts("registration/password_change_form.html")
def sign_out_where_the_password_is_changed(visitor: Visitor) -> None:
    visitor.sign_in()
    sign_out(visitor, "/admin/password_change/")


@posts("registration/password_change_form.html 2", "registration/password_change_done.html")
def change_the_password_and_sign_out(visitor: Visitor) -> None:
    visitor.sign_in_and_go("/admin/password_change/")
    visitor.page.fill("#id_old_password", PASSWORD)
    for field in ("#id_new_password1", "#id_new_password2"):
        visitor.page.fill(field, "difference-engine-1822")
    visitor.submit()
    visitor.page.wait_for_url("**/password_change/done/")
    assert User.objects.get(username="admin").check_password("difference-engine-1822")
    sign_out(visitor, "/admin/password_change/done/")


@posts("admin/auth/user/change_password.html")
def set_the_password_of_another(visitor: Visitor) -> None:
    ada = User.objects.create_user("ada")
    visitor.sign_in_and_go(f"/admin/auth/user/{ada.pk}/password/")
    for field in ("#id_password1", "#id_password2"):
        visitor.page.fill(field, PASSWORD)
    visitor.save()
    ada.refresh_from_db()

    assert ada.check_password(PASSWORD)


@posts("admin/account.html")
def sign_out_one_browser(visitor: Visitor) -> None:
    visitor.sign_in()
    visitor.open_page()
    visitor.sign_in_and_go("/admin/account/")
    visitor.page.get_by_role("button", name=re.compile("Sign out .*since")).click()
    visitor.wait_for_success()

    expect(visitor.page.get_by_role("button", name=re.compile("Sign out .*since"))).to_have_count(0)


@posts("admin/account.html 2")
def sign_out_everywhere_else(visitor: Visitor) -> None:
    visitor.sign_in()
    visitor.open_page()
    visitor.sign_in_and_go("/admin/account/")
    visitor.save("button[value=all]")


# Members


@posts("admin/accounts/membership/invite.html", "admin/accounts/membership/link.html")
def invite_and_mail_the_link(visitor: Visitor) -> None:
    edition = make.make_edition()
    visitor.sign_in_and_go(f"/admin/accounts/membership/add/?edition={edition.pk}")
    visitor.page.fill("#id_name", "Ada")
    visitor.page.fill("#id_email", "ada@example.org")
    visitor.page.check("#id_role input[value=editor]")
    visitor.submit()
    visitor.press("Send the link by e-mail")
    visitor.wait_for_success()

    assert [letter.to for letter in mail.outbox] == [["ada@example.org"]]


@posts("admin/accounts/membership/members.html", "admin/accounts/membership/members.html 2")
def resend_and_revoke_an_invitation(visitor: Visitor) -> None:
    edition = make.make_edition()
    create_invitation(edition)
    visitor.sign_in_and_go(f"/admin/accounts/membership/?edition={edition.pk}")
    visitor.press("Send a new link by e-mail to Ada")
    visitor.wait_for_success()
    visitor.press("Revoke the invitation of Ada")
    visitor.wait_for_success()

    assert not Invitation.objects.waiting().exists()


# Forms and lists of the admin


@posts("admin/change_form.html")
def save_a_form(visitor: Visitor) -> None:
    paper = make.make_paper(make.make_edition(), ["Ada"])
    visitor.sign_in_and_go(admin_url(paper, "change"))
    visitor.page.fill("#id_title", "Mended")
    visitor.save("[name=_save]")

    assert Paper.objects.get().title == "Mended"


@posts("admin/change_form.html button")
def preview_the_texts_of_a_form(visitor: Visitor) -> None:
    paper = make.make_paper(make.make_edition(), title="On $x^2$")
    visitor.open_page(has_script=False)
    visitor.sign_in_and_go(admin_url(paper, "change"))
    with visitor.page.context.expect_page() as tab:
        visitor.press("Preview the texts in a new tab")

    expect(tab.value.locator("math").first).to_be_visible()


@posts("admin-text.js")
def preview_a_text_while_writing(visitor: Visitor) -> None:
    paper = make.make_paper(make.make_edition(), abstract="On $x^2$")
    visitor.sign_in_and_go(admin_url(paper, "change"))
    visitor.page.locator("summary[aria-label='Preview: Abstract']").click()

    expect(visitor.page.locator(".text-shown math").first).to_be_visible()


@posts("admin/change_list.html", "admin/bulk.html", "admin/take_back.html")
def act_on_a_list_and_revert_it(visitor: Visitor) -> None:
    edition = make.make_edition()
    paper = make.make_paper(edition)
    make.make_topic(edition, "Compilers")
    visitor.sign_in_and_go(admin_url(Paper, "changelist"))
    visitor.page.locator("input.action-select").first.check()
    visitor.page.select_option("select[name=action]", "set_topic")
    visitor.submit("#changelist-form .actions [type=submit]")
    visitor.page.get_by_label("Topic").select_option("Compilers")
    visitor.submit()
    visitor.save("button[name=_confirmed]")
    paper.refresh_from_db()
    assert paper.topic == Topic.objects.get()
    visitor.page.locator(".messagelist a").click()
    visitor.save()
    paper.refresh_from_db()

    assert paper.topic is None


@posts("503.html")
def send_a_form_again_that_could_not_be_saved(visitor: Visitor) -> None:
    topic = make.make_topic(make.make_edition())
    visitor.sign_in_and_go(admin_url(topic, "delete"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("content.deletion.close_gaps", fail_to_write)
        visitor.submit()
        expect(visitor.page.get_by_role("heading", name="Back in a moment")).to_be_visible()
    assert [status for _path, status in visitor.post_responses] == [503]
    visitor.post_responses.clear()
    visitor.press("Try again")
    visitor.wait_for_success()

    assert not Topic.objects.exists()


def fail_to_write(*args: object, **kwargs: object) -> None:
    raise OperationalError("database or disk is full")


@posts("admin/delete_confirmation.html")
def delete_a_row(visitor: Visitor) -> None:
    paper = make.make_paper(make.make_edition())
    visitor.sign_in_and_go(admin_url(paper, "delete"))
    visitor.save()

    assert not Paper.objects.exists()


@posts("admin/delete_selected_confirmation.html")
def delete_chosen_rows(visitor: Visitor) -> None:
    make.make_page(make.make_edition())
    visitor.sign_in_and_go(admin_url(Page, "changelist"))
    visitor.page.locator("input.action-select").first.check()
    visitor.page.select_option("select[name=action]", "delete_selected")
    visitor.submit("#changelist-form .actions [type=submit]")
    visitor.save()

    assert not Page.objects.exists()


@posts("admin/stale.html")
def choose_between_two_versions(visitor: Visitor) -> None:
    paper = make.make_paper(make.make_edition())
    visitor.sign_in_and_go(admin_url(paper, "change"))
    Paper.objects.update(title="Theirs")
    visitor.page.fill("#id_title", "Mine")
    visitor.submit("[name=_save]")
    visitor.page.locator("input[name='_choose-title'][value=mine]").check()
    visitor.save()
    # A 409 is an edit conflict, not a rejected post.
    visitor.post_responses.remove((admin_url(paper, "change"), 409))

    assert Paper.objects.get().title == "Mine"


@posts("admin/restore.html")
def restore_a_version(visitor: Visitor) -> None:
    paper = make.make_paper(make.make_edition(), title="First")
    first = ChangeSet.objects.latest("pk")
    Paper.objects.update(title="Second")
    visitor.sign_in_and_go(reverse("admin:papers_paper_restore", args=[paper.pk, first.pk]))
    visitor.save()

    assert Paper.objects.get().title == "First"


@posts("admin/conference/edition/publish.html")
def publish_a_part(visitor: Visitor) -> None:
    edition = make.make_edition(papers_public_from=None)
    visitor.sign_in_and_go(f"{reverse('admin:conference_edition_publish', args=[edition.pk])}?part=papers")
    visitor.save("[name=publish]")
    edition.refresh_from_db()

    assert edition.papers_public_from is not None


# People


def make_duplicates() -> tuple[Person, Person]:
    person, duplicate = make.make_person("Paolo Costantini"), make.make_person("Costantini Paolo")
    make.make_paper(make.make_edition(), [person, "Zed", duplicate])
    return person, duplicate


@posts("admin/people/compare.html", "admin/people/unmerge.html")
def merge_two_people_and_revert_it(visitor: Visitor) -> None:
    person, duplicate = make_duplicates()
    visitor.sign_in_and_go(f"/admin/people/person/compare/?id={person.pk}&id={duplicate.pk}")
    visitor.save("[name=merge]")
    assert Person.objects.filter(merged_into__isnull=False).count() == 1
    visitor.page.locator(".messagelist .success a").last.click()
    visitor.save()

    assert not Person.objects.filter(merged_into__isnull=False).exists()


@posts("admin/people/split.html")
def split_a_person(visitor: Visitor) -> None:
    person, _duplicate = make_duplicates()
    visitor.sign_in_and_go(reverse("admin:people_person_split", args=[person.pk]))
    visitor.page.fill("#split-name", "Another Costantini")
    visitor.page.locator("input[name=row]").first.check()
    visitor.save()

    assert Person.objects.filter(name="Another Costantini").count() == 1


@posts("admin/people/duplicates.html", "admin/people/merge_pairs.html")
def search_duplicates_and_merge_the_pairs(visitor: Visitor) -> None:
    make_duplicates()
    visitor.sign_in_and_go(admin_url(PersonPair, "changelist"))
    visitor.save(".looked button")
    visitor.page.locator("input.action-select").first.check()
    visitor.page.select_option("select[name=action]", "merge_pairs")
    visitor.submit("#changelist-form .actions [type=submit]")
    visitor.save()

    assert Person.objects.filter(merged_into__isnull=False).count() == 1


# Imports


def upload_file(visitor: Visitor, content: bytes) -> None:
    file: FilePayload = {"name": "news.json", "mimeType": "application/json", "buffer": content}
    visitor.sign_in_and_go(UPLOAD)
    visitor.page.set_input_files("input[name=sources]", file)
    visitor.submit()
    visitor.page.wait_for_url("**/change/")


@posts(
    "admin/exchange/importjob/upload.html",
    "admin/exchange/importjob/ready.html",
    "admin/exchange/importrun/undo.html",
)
def import_a_file_and_revert_it(visitor: Visitor) -> None:
    make.make_edition()
    upload_file(visitor, papers_file(program(paper_record("p1", "Ada"))))
    visitor.submit("button[value=confirm]")
    expect(visitor.page.locator(".import-done")).to_be_visible()
    assert Paper.objects.get().uid == "p1"
    visitor.page.locator("a[href$='/undo/']").first.click()
    visitor.save()

    assert not Paper.objects.exists()


@posts("admin/exchange/importjob/mapping.html")
def map_the_columns_of_a_table(visitor: Visitor) -> None:
    make.make_edition()
    visitor.sign_in_and_go(UPLOAD)
    visitor.page.locator("textarea[name=pasted]").fill("Title\nOn n bodies\n")
    visitor.submit()
    visitor.page.wait_for_url("**/change/")
    visitor.submit("button[value=map]")
    visitor.page.wait_for_load_state()

    assert ImportJob.objects.get().state == "ready"


def import_two_titles(visitor: Visitor, *titles: str) -> None:
    make.make_edition()
    visitor.sign_in_and_go(UPLOAD)
    visitor.page.locator("textarea[name=pasted]").fill("\n".join(["Title\tSession start", *titles]))
    visitor.submit()
    visitor.page.wait_for_url("**/change/")
    visitor.submit("button[value=map]")
    visitor.page.wait_for_load_state()


@posts("admin/exchange/importjob/ready.html 2")
def leave_a_row_out_of_a_preview(visitor: Visitor) -> None:
    import_two_titles(visitor, "On n bodies\t", "On two bodies\t")
    visitor.page.locator("input[name=left_out]").first.check()
    visitor.submit("button[value=leave_out]")
    visitor.page.wait_for_load_state()
    visitor.submit("button[value=confirm]")
    expect(visitor.page.locator(".import-done")).to_be_visible()

    assert [paper.title for paper in Paper.objects.all()] == ["On two bodies"]


@posts("admin/exchange/importjob/refused.html")
def leave_a_row_out_of_a_refused_table(visitor: Visitor) -> None:
    import_two_titles(visitor, "On n bodies\tyesterday", "On two bodies\t")
    visitor.page.locator("input[name=left_out]").first.check()
    visitor.submit("button[value=leave_out]")
    visitor.page.wait_for_load_state()

    assert ImportJob.objects.get().state == "ready"


@posts("admin/exchange/importjob/_again.html")
def discard_a_refused_import(visitor: Visitor) -> None:
    make.make_edition()
    upload_file(visitor, b'{"format": "plenary-program", "version": 1, "papers": [{}]}')
    visitor.submit("button[value=drop]")
    visitor.page.wait_for_load_state()

    assert ImportJob.objects.get().state == "dropped"


def make_conflicts() -> None:
    """Create two conflicts: titles that were changed both here and in the file."""
    make.make_edition()
    for title in ("Old", "New"):
        papers = [paper_record(f"p{n}", "Ada", title=f"{title} {n}") for n in range(2)]
        load(program(*papers), "2021", format_name="program_json")
        Paper.objects.filter(title__startswith="Old").update(title="By hand")


@posts("admin/exchange/conflict/decide.html")
def decide_a_conflict(visitor: Visitor) -> None:
    make_conflicts()
    visitor.sign_in_and_go(admin_url(Conflict.objects.earliest("pk"), "change"))
    visitor.page.locator("input[value=theirs]").check()
    visitor.save()

    assert Paper.objects.filter(title__startswith="New").count() == 1


@posts("admin/exchange/conflict/together.html")
def decide_several_conflicts(visitor: Visitor) -> None:
    make_conflicts()
    visitor.sign_in_and_go(f"{admin_url(Conflict, 'changelist')}?state=open")
    for box in visitor.page.locator("input.action-select").all():
        box.check()
    visitor.page.select_option("select[name=action]", "take_theirs")
    visitor.submit("#changelist-form .actions [type=submit]")
    visitor.save()

    assert Paper.objects.filter(title__startswith="New").count() == 2


# The schedule


@posts("admin/schedule/timetable.html", "admin/schedule/_saved_changes.html")
def move_a_session_and_revert_it(visitor: Visitor) -> None:
    session = make.make_session(make.make_edition())
    visitor.open_page(has_script=False)
    visitor.sign_in_and_go("/admin/schedule/session/timetable/")
    row = visitor.page.locator(f"#s{session.pk}")
    row.locator("summary").click()
    row.get_by_label("Start").fill("10:00")
    row.get_by_label("End").fill("11:00")
    visitor.save("[name=_save]")
    session.refresh_from_db()
    assert session.start == make.MORNING + timedelta(hours=2)
    visitor.save(".tt-saved form button")
    session.refresh_from_db()

    assert session.start == make.MORNING


@posts("timetable-clashes.js")
def show_clashes_while_moving_a_session(visitor: Visitor) -> None:
    session = make.make_session(make.make_edition())
    visitor.sign_in_and_go("/admin/schedule/session/timetable/")
    with visitor.page.expect_response("**/timetable/clashes/"):
        visitor.page.locator(".tt-block").filter(has_text=session.title).press("ArrowDown")

    expect(visitor.page.locator("#tt-clashes")).to_contain_text("These sessions have no clashes.")


@posts("admin/schedule/talks.html")
def spread_talks_evenly(visitor: Visitor) -> None:
    session = make.make_session(make.make_edition())
    talk = make.make_presentation(session)
    visitor.sign_in_and_go(f"/admin/schedule/session/{session.pk}/talks/")
    visitor.submit("[name=_spread]")
    visitor.save("[name=_save]")
    talk.refresh_from_db()

    assert talk.start == make.MORNING


@posts("admin/edit_inline/_save_pages.html button", "admin/edit_inline/_save_pages.html button 2")
def save_pages_of_rows(visitor: Visitor) -> None:
    session = make.make_session(make.make_edition())
    for number in range(RoleInline.rows_per_page + 1):
        make.add_role(session, make.make_person(f"Person {number}"), "panelist")
    visitor.sign_in_and_go(f"/admin/schedule/session/{session.pk}/change/")
    visitor.page.locator("[name=roles-0-affiliation]").fill("Here")
    visitor.press("Save and show next rows")
    visitor.wait_for_success()
    visitor.page.locator("[name=roles-0-affiliation]").fill("There")
    visitor.press("Save and show previous rows")
    visitor.wait_for_success()
    affiliations = [role.affiliation for role in session.roles.order_by("position")]

    assert [affiliations[0], affiliations[-1]] == ["Here", "There"]


@posts("admin/schedule/boards.html")
def assign_boards(visitor: Visitor) -> None:
    poster_session = make.make_session(make.make_edition(), kind="poster")
    make.make_presentation(poster_session, kind="poster")
    visitor.sign_in_and_go(f"/admin/schedule/session/{poster_session.pk}/boards/")
    visitor.page.get_by_label("Boards in walking order").fill("7")
    visitor.submit("[name=_assign]")
    visitor.save("[name=_save]")

    assert Presentation.objects.get().board == "7"


@posts("admin/schedule/assign.html", "assignment.js")
def assign_papers_to_sessions(visitor: Visitor) -> None:
    edition = make.make_edition()
    session = make.make_session(edition)
    paper = make.make_paper(edition)
    visitor.sign_in_and_go("/admin/schedule/session/assign/")
    visitor.page.get_by_label(f"Session for {paper}").select_option(str(session.pk))
    visitor.page.get_by_label(f"Session for {paper}").press("Enter")
    expect(visitor.page.get_by_role("status")).to_have_text("1 paper planned, not saved yet")
    visitor.save("[name=_save]")

    assert Presentation.objects.get().session == session


@posts("admin/schedule/posters.html")
def make_posters_of_talks(visitor: Visitor) -> None:
    edition = make.make_edition()
    oral_session = make.make_session(edition)
    make.make_session(edition, kind="poster", start=make.MORNING + timedelta(hours=2))
    make.make_presentation(oral_session, make.make_paper(edition))
    visitor.sign_in_and_go("/admin/schedule/session/posters/")
    visitor.page.locator("input[name=pick]").first.check()
    visitor.submit("[name=_preview]")
    visitor.save("[name=_save]")

    assert Presentation.objects.filter(session__kind="poster").count() == 1


@posts("admin/schedule/release/announce.html", "admin/schedule/release/announce.html button")
def announce_a_release(visitor: Visitor) -> None:
    make.make_session(make.make_edition())
    visitor.sign_in_and_go("/admin/schedule/release/add/")
    visitor.page.locator("#id_text").fill("It is $x^2$.")
    with visitor.page.context.expect_page() as tab:
        visitor.press("Preview the texts in a new tab")
    expect(tab.value.locator("math").first).to_be_visible()
    visitor.save()

    assert Release.objects.get().number == 1


def upcoming_edition() -> Edition:
    start_date = (timezone.now() + timedelta(days=20)).date()
    return make.make_edition(start_date.year, start_date=start_date, end_date=start_date + timedelta(days=2))


def invite_chair(edition: Edition) -> ProgramInvitation:
    start = datetime.combine(edition.start_date, time(12), edition.zone)
    ada = make.make_person("Ada Lovelace", email="ada@example.org")
    session = make.make_session(edition, start=start)
    return ProgramInvitation.objects.create(edition=edition, person=ada, session=session, role="chair")


@posts("admin/schedule/asking_form.html", "admin/schedule/programinvitation/letters.html")
def send_an_invitation_from_the_form_of_a_session(visitor: Visitor) -> None:
    invitation = invite_chair(upcoming_edition())
    visitor.sign_in_and_go(f"/admin/schedule/session/{invitation.session_id}/change/")
    visitor.submit("button[value=send_invitations]")
    visitor.page.wait_for_url("**/programinvitation/**")
    visitor.page.locator("main form[method=post] button[value=yes]").click()
    visitor.page.wait_for_load_state()
    invitation.refresh_from_db()

    assert invitation.state == "sent"


@posts("admin/schedule/programinvitation/prepare.html")
def prepare_invitations(visitor: Visitor) -> None:
    session = make.make_session(upcoming_edition())
    make.add_role(session, "Ada Lovelace", "chair")
    visitor.sign_in_and_go(f"/admin/schedule/session/{session.pk}/change/")
    visitor.page.get_by_role("link", name="Prepare an invitation for 1 person listed above").first.click()
    visitor.save("main form[method=post] button.button")

    assert ProgramInvitation.objects.get().session == session


@posts(
    "schedule/invitation/answer.html",
    "schedule/invitation/answer.html 2",
    "schedule/invitation/answer.html 3",
)
def answer_an_invitation_without_an_account(visitor: Visitor) -> None:
    invitation = invite_chair(edition := upcoming_edition())
    invitation.state = "sent"
    invitation.save()
    visitor.go(urlsplit(invitation.new_link()).path)
    visitor.press("Confirm")
    expect(visitor.page.locator("main")).to_contain_text("confirmed")
    day = edition.start_date.isoformat()
    visitor.page.get_by_label("From").fill(f"{day}T09:00")
    visitor.page.get_by_label("Until").fill(f"{day}T10:00")
    visitor.press("Add time")
    visitor.page.get_by_role("button", name=re.compile("Remove ")).first.click()
    expect(visitor.page.get_by_text("No times entered")).to_be_visible()
    invitation.refresh_from_db()

    assert (invitation.state, Unavailability.objects.count()) == ("confirmed", 0)


@posts("admin/schedule/live_notice.html")
def announce_a_room_change(visitor: Visitor) -> None:
    edition = upcoming_edition()
    new_room = make.make_room(edition, "Hall B")
    session = make.make_session(edition, room=make.make_room(edition, "Hall A"))
    visitor.sign_in_and_go(f"/admin/schedule/session/{session.pk}/announce/")
    visitor.page.get_by_label("New room").select_option(label=new_room.name)
    visitor.press("Show the notice")
    until = datetime.combine(edition.end_date, time(12)).isoformat(timespec="minutes")
    visitor.page.get_by_label("Show the banner until").fill(until)
    visitor.press("Publish now")
    visitor.wait_for_success()
    session.refresh_from_db()

    assert session.room == new_room


def change_title_unreleased(visitor: Visitor) -> tuple[str, Session]:
    """Change a title while changes wait; return the URL of the unreleased changes, and the session."""
    edition = make.make_edition()
    session = make.make_session(edition, title="Before")
    address = f"/admin/schedule/release/working-copy/?edition={edition.pk}"
    visitor.sign_in_and_go(address)
    visitor.press("Let changes wait")
    visitor.wait_for_success()
    visitor.go(f"/admin/schedule/session/{session.pk}/change/")
    visitor.page.fill("#id_title", "After")
    visitor.save("[name=_save]")
    visitor.go(address)
    return address, session


@posts(
    "admin/schedule/release/_closed.html",
    "admin/schedule/release/_last.html",
    "admin/schedule/release/undo.html",
    "admin/schedule/release/unreleased.html",
    "admin/schedule/release/unreleased.html 2",
)
def plan_a_release_release_now_and_undo(visitor: Visitor) -> None:
    report()
    address, session = change_title_unreleased(visitor)
    visitor.page.fill("#release_at", "2099-01-01T12:00")
    visitor.save("[value=plan]")
    visitor.save("[value=unplan]")
    visitor.save("[value=release]")
    session.refresh_from_db()
    released = session.title
    visitor.go(address)
    visitor.press("Undo this release …")
    visitor.press("Undo this release")
    visitor.wait_for_success()
    session.refresh_from_db()

    assert (released, session.title) == ("After", "Before")


@posts("admin/schedule/release/discard.html", "admin/schedule/release/unreleased.html 3")
def discard_all_changes(visitor: Visitor) -> None:
    address, session = change_title_unreleased(visitor)
    visitor.press("Discard all changes …")
    visitor.press("Discard")
    visitor.wait_for_success()
    visitor.go(address)
    visitor.press("Publish later changes at once")
    visitor.wait_for_success()
    session.refresh_from_db()

    assert session.title == "Before"


@posts("admin/schedule/release/new_clashes.html")
def release_with_a_new_clash(visitor: Visitor) -> None:
    address, session = change_title_unreleased(visitor)
    room = make.make_room(session.edition)
    Session.objects.filter(pk=session.pk).update(room=room)
    with publishing():
        make.make_session(session.edition, title="Other", room=room)
    visitor.go(address)
    visitor.page.click("[value=release]")
    visitor.press("Release with these clashes")
    visitor.wait_for_success()
    session.refresh_from_db()

    assert (session.title, session.room) == ("After", room)


@posts("admin/_desk_begin.html")
def hide_the_first_steps(visitor: Visitor) -> None:
    edition = make.make_edition()
    visitor.sign_in_and_go(f"/admin/?edition={edition.pk}")
    visitor.press("Hide the first steps")
    visitor.page.wait_for_load_state()

    expect(visitor.page.get_by_role("heading", name="First steps")).to_have_count(0)


@posts("admin/conference/edition/new.html")
def create_an_edition_from_an_earlier_one(visitor: Visitor) -> None:
    edition = make.make_edition()
    visitor.sign_in_and_go(f"/admin/conference/edition/new/?edition={edition.pk}")
    visitor.page.fill("#id_start_date", "2031-05-05")
    visitor.page.fill("#id_end_date", "2031-05-07")
    visitor.save()

    assert Edition.objects.count() == 2


# The agenda of a reader


def star_session(visitor: Visitor) -> None:
    make.make_session(make.make_edition(), title="Opening")
    visitor.go(DAY)
    visitor.press("Star: Opening")


def save_agenda(visitor: Visitor) -> str:
    """Store an agenda of one star on the site; return its private link."""
    star_session(visitor)
    visitor.go(AGENDA)
    visitor.press("Save and sync")
    expect(visitor.page.get_by_text("Your agenda is saved.")).to_be_visible()
    return visitor.page.get_by_label("Private link:").input_value()


@posts("_my_agenda.html")
def star_without_a_script(visitor: Visitor) -> None:
    visitor.open_page(has_script=False)
    star_session(visitor)
    visitor.page.wait_for_url("**/agenda/?note=kept")

    assert Agenda.objects.count() == 1


@posts("agenda.js")
def show_the_agenda_of_this_browser(visitor: Visitor) -> None:
    star_session(visitor)
    visitor.go(AGENDA)
    expect(visitor.page.get_by_role("link", name="Opening")).to_be_visible()

    assert not Agenda.objects.exists()


@posts("star.js")
def sync_stars_with_the_site(visitor: Visitor) -> None:
    save_agenda(visitor)
    with visitor.page.expect_response("**/agenda/sync/"):
        visitor.press("Star: Opening")

    assert Agenda.objects.count() == 1


@posts("schedule/agenda.html", "schedule/agenda.html button", "schedule/agenda.html button 2")
def download_the_agenda_as_files(visitor: Visitor) -> None:
    star_session(visitor)
    visitor.go(AGENDA)
    names = ("Calendar .ics", "Table .csv", "References .bib")
    texts = [visitor.download(name).path().read_text("utf-8") for name in names]

    assert "SUMMARY:Opening" in texts[0]
    assert "Opening" in texts[1]


@posts("schedule/_stored_agenda.html", "schedule/_stored_agenda.html 2")
def open_a_secret_link_and_delete_the_agenda(visitor: Visitor) -> None:
    link = save_agenda(visitor)
    visitor.open_page()
    visitor.go(link)
    visitor.submit("button[value=use]")
    expect(visitor.page.locator("[data-count]")).to_have_text(" · 1")
    # The script renders the agenda again after the response of the site.
    visitor.page.wait_for_load_state("networkidle")
    visitor.page.get_by_text("Delete this agenda").click()
    visitor.submit("button[value=delete]")
    expect(visitor.page.get_by_text("Your agenda was deleted.")).to_be_visible()

    assert not Agenda.objects.exists()


# All posted forms


FUNCTIONS_BY_NAME = {function.__name__: function for function in POSTS.values()}


def refused_posts(visitor: Visitor) -> list[tuple[str, int]]:
    return [response for response in visitor.post_responses if response[1] >= 400]


@pytest.mark.parametrize(
    ("case", "visitor"),
    [*((case, "https") for case in FUNCTIONS_BY_NAME), *((case, "http") for case in CASES_OVER_HTTP)],
    indirect=["visitor"],
)
def test_trap_32_posted_forms_are_accepted(case: str, visitor: Visitor) -> None:
    """Assert that a form was posted and none rejected; each function asserts the effect of its post."""
    FUNCTIONS_BY_NAME[case](visitor)

    assert visitor.post_responses
    assert refused_posts(visitor) == []


# The forms of all models, which must work without stylesheets and scripts.

# Models whose rows only imports create.
READ_ONLY_MODELS = {
    "exchange.provenance",
    "exchange.importrun",
    "exchange.importjob",
    "exchange.columnmapping",
}


def test_unchanged_forms_of_all_models_are_saved_without_styles_and_scripts(visitor: Visitor) -> None:
    rows = {label: row for label, row in make_world().rows.items() if type(row) in site._registry}
    visitor.open_page(has_script=False)
    visitor.page.route("**/static/**", lambda route: route.abort())
    visitor.sign_in()
    read_only = set()
    for label, row in rows.items():
        visitor.go(admin_url(row, "change"))
        if visitor.page.locator("#content form [name=_save]").count():
            visitor.save("#content form [name=_save]")
        else:
            read_only.add(label)

    assert refused_posts(visitor) == []
    assert read_only == {"api.token", "exchange.conflict", *READ_ONLY_MODELS}
