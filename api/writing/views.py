"""Requests that write: made, changed, deleted; each is one transaction and one act in the history."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from django.db import IntegrityError
from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework import status
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from api.errors import (
    InvalidBodyError,
    UnknownParameter,
    WriteError,
    conflict,
    flat_errors,
    forbidden,
    permission_text,
)
from api.permissions import Asker
from api.reader import Builder, Reader
from api.selection import Wanted
from api.shapes import Resource
from api.writing import rows
from api.writing.bodies import body_serializer, resolve_references
from api.writing.responses import etag_of, warnings, with_references, writable_body
from api.writing.writable import WRITABLE, WritableResource
from conference.models import Edition
from content import revision
from content.history import Origin
from content.recording import recording
from editorial.current_edition import edition_of

type Body = dict[str, Any]


class WritingMixin:
    """What a resource that can be written answers beside reading."""

    resource: ClassVar[Resource]
    reader: Any
    addressed: Any
    wanted: Any

    @property
    def written(self) -> WritableResource | None:
        return WRITABLE.get(self.resource.name)

    # Requests

    def retrieve(self, request: Request, id: str, edition: str | None = None) -> Response:
        """Answer as to everybody; to staff with all that can be written, and its version.

        The version is read first: of a change in between the answer tells more than its version stands for,
        and who builds on it is refused. The other way round the change would be lost.
        """
        row = self.in_version(id, edition)
        response: Response = super().retrieve(request, id, edition)  # type: ignore[misc]
        if row is None or response.status_code != status.HTTP_200_OK:
            return response
        return self.with_version(request, response, row)

    def in_version(self, id: str, edition: str | None) -> Any:
        """Return the row with all that can be written, if the asker may read that."""
        if self.written is None or not self.reader.asker.may("view", self.resource.model):
            return None
        row = with_references(self.written, self.addressed(id, edition)).first()
        return row if row is not None and self.reader.asker.reads_all(row) else None

    def create(self, request: Request) -> Response:
        written, asker, wanted = self.writing(request, "add")
        body = self.body(request, partial=False)
        with self.act(asker):
            edition = self.edition(body)
            resolve_references(written, body, self.reader, edition.slug if edition else "")
            row = rows.create(written, body, edition, asker)
            response = self.answer(request, row, wanted, status.HTTP_201_CREATED)
        key = getattr(row, self.resource.key)
        own = edition_of(row) if self.resource.edition else None
        response["Location"] = self.resource.url(own.slug if own else None, key)
        return response

    def partial_update(self, request: Request, id: str, edition: str | None = None) -> Response:
        written, asker, wanted = self.writing(request, "change", id, edition)
        self.seen(request)
        body = self.body(request, partial=True)
        with self.act(asker):
            row = self.locked(request, id, edition, "change")
            self.check_identity(body, row)
            own = edition_of(row)
            resolve_references(written, body, self.reader, own.slug if own else "")
            rows.change(written, row, body, asker)
            return self.answer(request, row, wanted, status.HTTP_200_OK)

    def destroy(self, request: Request, id: str, edition: str | None = None) -> Response:
        _written, asker, _wanted = self.writing(request, "delete", id, edition)
        self.seen(request)
        with self.act(asker):
            rows.delete(self.locked(request, id, edition, "delete"), self.reader)
        return Response(status=status.HTTP_204_NO_CONTENT)

    # Who, and in what state

    def writing(
        self, request: Request, action: str, id: str = "", edition: str | None = None
    ) -> tuple[WritableResource, Asker, Wanted]:
        """Return what is written, who writes, and what the answer shows; refuse those who may not."""
        for name in request.query_params:
            if name not in ("fields", "expand"):
                raise UnknownParameter(name, ("fields", "expand"))
        if not request.user.is_authenticated:
            raise NotAuthenticated
        asker: Asker = self.reader.asker
        if id and not self.addressed(id, edition).exists():
            raise Http404
        if not asker.writes:
            raise forbidden(_("This token is for reading."))
        if not asker.may(action, self.resource.model):
            raise forbidden(permission_text(action, self.resource.model))
        return WRITABLE[self.resource.name], asker, self.wanted(request)

    @contextmanager
    def act(self, asker: Asker) -> Iterator[None]:
        """Make what happens inside one act of this asker: all of it, or nothing."""
        token = asker.token.name if asker.token else ""
        try:
            with recording(Origin.API, asker.user, token), revision.lock():
                yield
        except IntegrityError:
            raise conflict(_("Somebody else wrote the same at this moment. Read it again.")) from None

    @staticmethod
    def seen(request: Request) -> set[str]:
        """Return the versions that the asker has seen; refuse who says none."""
        told = request.headers.get("If-Match", "").strip()
        if told in ("", "*"):
            said = _("Say in If-Match which version you change: the ETag with which you read it.")
            raise WriteError(status.HTTP_428_PRECONDITION_REQUIRED, said)
        # A proxy that compresses makes tags weak; what they stand for is the same.
        return {tag.strip().removeprefix("W/") for tag in told.split(",")}

    def locked(self, request: Request, id: str, edition: str | None, action: str) -> Any:
        """Return the row, locked to the end of the act, if it is still what the asker has seen."""
        written = WRITABLE[self.resource.name]
        key = self.addressed(id, edition).values_list("pk", flat=True).first()
        rows_of = written.model._base_manager
        # First the lock, then what stands there: a statement that waits for a lock has begun to read before.
        held = rows_of.select_for_update().filter(pk=key).order_by("pk").values_list("pk", flat=True)
        if held.first() is None:
            raise Http404
        row = with_references(written, rows_of.all()).get(pk=key)
        rows.check_permissions(self.reader.asker, row, action)
        if etag_of(written, row, writable_body(written, row)) not in self.seen(request):
            response = self.answer(request, row, Wanted(), status.HTTP_412_PRECONDITION_FAILED, clash=False)
            said = _("Somebody changed this meanwhile: here is what stands now.")
            raise WriteError(status.HTTP_412_PRECONDITION_FAILED, said, current=response.data)
        return row

    # Bodies

    def body(self, request: Request, *, partial: bool) -> Body:
        """Return the body as its serializer reads it."""
        serializer: Any = body_serializer(WRITABLE[self.resource.name])(data=request.data, partial=partial)
        if not serializer.is_valid():
            raise InvalidBodyError(dict(flat_errors(serializer.errors)))
        return dict(serializer.validated_data)

    def edition(self, body: Body) -> Any:
        """Return the edition that a new row belongs to; it has to be visible."""
        if body.get("edition") is None:
            return None
        found = self.reader.rows(Edition).filter(slug=body["edition"][1]).first()
        if found is None:
            raise InvalidBodyError({"edition": [_("There is no such edition.")]})
        return found

    @staticmethod
    def check_identity(body: Body, row: Any) -> None:
        """Refuse another id or edition than it has: both are fixed for life."""
        key = getattr(row, "uid", getattr(row, "slug", None))
        own = edition_of(row)
        fixed = {"id": key, "edition": own.slug if own else None}
        said = {"id": body.get("id", key), "edition": (body.get("edition") or (None, None))[1]}
        if "edition" not in body:
            said["edition"] = fixed["edition"]
        errors = {name: [_("This is fixed for life.")] for name in fixed if said[name] != fixed[name]}
        if errors:
            raise InvalidBodyError(errors)

    # Answers

    def answer(
        self, request: Request, row: Any, wanted: Wanted, code: int, *, clash: bool = True
    ) -> Response:
        """Return the row as reading shows it, with what can be written, and what it clashes with."""
        reader: Reader = self.reader
        found = Builder(reader).in_order(self.resource, [row.pk], wanted)
        response = Response(found[0] if found else {}, status=code)
        if clash:
            response.data["warnings"] = warnings(row)
        written = WRITABLE[self.resource.name]
        stored = with_references(written, written.model._base_manager.all()).get(pk=row.pk)
        return self.with_version(request, response, stored)

    def with_version(self, request: Request, response: Response, row: Any) -> Response:
        """Add what can be written of the row, unless some fields are asked for, and its version."""
        written = WRITABLE[self.resource.name]
        body = writable_body(written, row)
        if "fields" not in request.query_params:
            response.data["written"] = body
        response["ETag"] = etag_of(written, row, body)
        return response
