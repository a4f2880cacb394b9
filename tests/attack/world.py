"""A program with a payload in every field that accepts one, and the URLs that may show it."""

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Group
from django.db import models
from django.urls import reverse

from api.files import FILES
from api.shapes import RESOURCES
from editorial.lists import files_of
from exchange.exports.agenda_files import KINDS
from exchange.models import ImportJob, PlannedRow, UploadPart
from people.models import Invitation, PersonName
from schedule.models import Session
from schedule.releases import announce
from schedule.unreleased.models import ReleasePlan, UnreleasedChange
from tests import factories as make
from tests.access.permission_table import MODELS, PAGES
from tests.access.site_url_table import URL_KINDS
from tests.access.test_admin_model_urls import ACCOUNT_MODELS, ROW_PAGES, has_no_history, list_url, row_url
from tests.access.test_admin_other_urls import other_urls
from tests.access.test_site_urls import ROUTES, site_url
from tests.access.world import World, make_rows, make_world
from tests.api.reading import expansions
from tests.attack.payloads import fields, fill
from tests.website.test_visibility_in_files import program_files

# URLs of the admin that only accept POST, or that change the state of the session.
SKIPPED_URLS = {"login", "logout", "text_help", "accounts_membership_revoke", "auth_user_password_change"}
SKIPPED_URLS |= {"conference_edition_as_public", "conference_edition_preview", "view_on_site", "autocomplete"}


def attacked_world(number: int) -> World:
    """Return the two editions of the access tests; the first is public and full of payloads."""
    world = make_world()
    rows: dict[str, Any] = make_rows(world.edition, "Shown", "published")
    person = rows["people.person"]
    rows["people.personname"] = PersonName.objects.create(person=person, name="Shown Earlier")
    rows["exchange.importjob"].delete()
    rows["exchange.importjob"] = job = ImportJob.objects.create(edition=world.edition, state="ready")
    rows["exchange.plannedrow"] = PlannedRow.objects.create(job=job, kind="paper", label="x", is_new=True)
    UploadPart.objects.create(job=job, file=0, content=b"x")
    rows["auth.group"] = Group.objects.create(name="x")
    rows["auth.user"] = user = world.users["superuser"]
    rows["admin.logentry"] = LogEntry.objects.create(user=user, object_repr="x", action_flag=CHANGE)
    rows["conference.page"] = make.make_page(None, slug="conduct")
    rows["api.token"] = world.rows["api.token"]
    rows["accounts.membership"] = world.rows["accounts.membership"]
    world.rows = rows
    invitation_fields = {"role": "viewer", "name": "A", "email": "a@example.org", "digest": "x"}
    Invitation.objects.create(edition=world.edition, expires_at=make.PAST, **invitation_fields)
    store_payloads([*rows.values(), make.make_page(world.edition, slug="conduct")], number)
    rows |= unreleased_rows(rows["schedule.session"], number)
    announce(world.edition, make.PAST)
    return world


def unreleased_rows(session: Session, number: int) -> dict[str, models.Model]:
    """Store a change of a title that waits and the plan of its release, with payloads in its texts."""
    text = fill(Session._meta.get_field("title"), number)
    plan = ReleasePlan.objects.create(
        edition=session.edition, changes_wait=False, waits_by=text, planned_by=text, refusal=text
    )
    change = UnreleasedChange.objects.create(
        edition=session.edition, session=session, values={"title": text}, began={"title": text}, by_name=text
    )
    return {"schedule.releaseplan": plan, "schedule.unreleasedchange": change}


def store_payloads(rows: list[models.Model], number: int) -> None:
    """Store payloads in every field of these rows, without validation by forms or importers."""
    for row in rows:
        for field in fields(type(row)):
            setattr(row, field.name, fill(field, number))
            number += 1
        row.save()


def models_without_row(world: World) -> set[str]:
    """Return the labels of models that accept payloads but have no attacked row."""
    return {model._meta.label_lower for model in apps.get_models() if [*fields(model)]} - {*world.rows}


def public_urls(world: World) -> Iterator[str]:
    """Yield the URLs of the site, of files in every format, and of API resources with expanded relations."""
    edition, slug = world.edition, world.edition.slug
    names = [name for name, kind in URL_KINDS.items() if kind in ("page", "file")]
    yield from (site_url(ROUTES[name], edition, world.rows) for name in names)
    yield from (path for _, path in program_files(edition))
    yield from (f"/{slug}/papers/?view=detailed", f"/{slug}/schedule/2021-04-06/?view=grid", "/search/?q=xq7")
    yield from (
        f"/{slug}/search/?q=xq7",
        "/search/suggest?q=xq7",
        "/search/feed?q=xq7",
        "/nothing/<xq7 xq7>/",
    )
    stars = "+".join(f"p.{presentation.uid}" for presentation in edition.presentations.all())
    yield from (
        f"/{slug}/agenda{ending}?s={stars}"
        for ending in ("/", *(f".{presentation}" for presentation in KINDS))
    )
    for name, resource in RESOURCES.items():
        yield f"/api/v1/{name}/?expand={','.join(expansions(resource, 1))}"
        yield from (
            f"/api/v1/{name}/?format={file_format}&edition={slug}" for file_format in FILES.get(name, ())
        )


def admin_urls(world: World) -> Iterator[str]:
    """Yield the URLs of the admin: lists, forms, histories, exports, and pages that belong to no model."""
    for label in MODELS:
        model = apps.get_model(label)
        for page in PAGES:
            if page == "export":
                for file in files_of(model):
                    yield reverse(f"admin:{label.replace('.', '_')}_export", args=[file.name])
            elif page in ROW_PAGES:
                needs_history = page in ("history", "restore", "bring_back")
                if (
                    label not in ACCOUNT_MODELS
                    and label in world.rows
                    and not (needs_history and has_no_history(label))
                ):
                    yield row_url(label, page, world.rows[label])
            elif not (page == "deleted" and has_no_history(label)):
                yield list_url(label, page)
    yield from (url for name, url in other_urls(world).items() if name not in SKIPPED_URLS)
