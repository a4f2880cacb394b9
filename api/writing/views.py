"""Views that create, change and delete rows, each in one transaction and one change set of the history."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import IntegrityError
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework import status
from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from api.errors import InvalidBodyError, WriteError, conflict, flat_errors, permission_text
from api.permissions import Caller
from api.reader import Selection
from api.shapes import Rows
from api.views import ReadOnlyViewSet, refuse_unknown
from api.writing import rows
from api.writing.bodies import Body, body_serializer, referenced_row, resolve_references
from api.writing.responses import clash_warnings, etag_of, summary_of, with_references, writable_body
from api.writing.unreleased import add_unreleased, change_since, describe
from conference.models import Edition
from content import revision
from content.history import Origin
from content.history.recording import Log, recording
from content.models import Content
from content.ordering import is_ordered, lock_owners
from content.write_conflicts import retry_conflicts
from editorial.current_edition import edition_of


class ResourceViewSet(ReadOnlyViewSet):
    """Views of a resource, which can be written if it declares writable columns."""

    # Requests

    def retrieve(self, request: Request, id: str, edition: str | None = None) -> Response:
        """Return the row; for staff with all writable fields, and its version as ETag.

        The version is read before the content, so that the ETag never is newer than the content. Otherwise a
        client could overwrite a change that it has not seen.
        """
        row = self.get_writable_row(id, edition)
        response = super().retrieve(request, id, edition)
        if row is None or response.status_code != status.HTTP_200_OK:
            return response
        return self.add_version(request, response, row)

    def get_writable_row(self, id: str, edition: str | None) -> Content | None:
        """Return the row if the caller may read all its writable fields, otherwise `None`."""
        if not self.resource.writable or not self.reader.caller.may("view", self.resource.model):
            return None
        row = with_references(self.resource, self.rows_at(id, edition)).first()
        return row if row is not None and self.reader.caller.may_read_in_full(row) else None

    @retry_conflicts
    def create(self, request: Request) -> Response:
        caller, selection = self.authorize(request, "add"), self.selection(request)
        body, started_at = self.read_body(request, partial=False), timezone.now()
        with self.record_changes(caller) as log:
            edition = self.find_edition(body)
            resolve_references(self.resource, body, self.reader, edition.slug if edition else "")
            row = rows.create(self.resource, body, edition, caller)
            log.write()
            response = self.row_response(request, row, selection, status.HTTP_201_CREATED)
            add_unreleased(response, change_since(started_at, row))
        response["Location"] = summary_of(row)["url"]
        return response

    @retry_conflicts
    def partial_update(self, request: Request, id: str, edition: str | None = None) -> Response:
        caller, selection = self.authorize(request, "change", id, edition), self.selection(request)
        self.read_if_match(request)
        body, started_at = self.read_body(request, partial=True), timezone.now()
        with self.record_changes(caller) as log:
            row = self.lock_row(request, id, edition, "change", body)
            self.check_identity(body, row)
            row_edition = edition_of(row)
            resolve_references(self.resource, body, self.reader, row_edition.slug if row_edition else "")
            rows.change(self.resource, row, body, caller)
            log.write()
            response = self.row_response(request, row, selection, status.HTTP_200_OK)
            return add_unreleased(response, change_since(started_at, row))

    @retry_conflicts
    def destroy(self, request: Request, id: str, edition: str | None = None) -> Response:
        caller = self.authorize(request, "delete", id, edition)
        self.selection(request)
        self.read_if_match(request)
        started_at = timezone.now()
        with self.record_changes(caller):
            row = self.lock_row(request, id, edition, "delete")
            rows.delete(row, self.reader)
            if change := change_since(started_at, row):
                return Response({"unreleased": describe(change)}, status=status.HTTP_202_ACCEPTED)
        return Response(status=status.HTTP_204_NO_CONTENT)

    # Permissions and versions

    def authorize(self, request: Request, action: str, id: str = "", edition: str | None = None) -> Caller:
        """Return the caller; raise the errors for a row that is not found or permissions that are missing."""
        refuse_unknown(request, ("fields", "expand"))
        if not request.user.is_authenticated:
            raise NotAuthenticated
        caller = self.reader.caller
        if id and not self.rows_at(id, edition).exists():
            raise Http404
        if not caller.writes:
            raise PermissionDenied(_("This token is read-only."))
        if not caller.may(action, self.resource.model):
            raise PermissionDenied(permission_text(action, self.resource.model))
        return caller

    @contextmanager
    def record_changes(self, caller: Caller) -> Iterator[Log]:
        """Record the writes in this block as one change set of this user, in one transaction.

        Call `write()` of the yielded log before the times of changes are read.
        """
        token = caller.token.name if caller.token else ""
        try:
            with recording(Origin.API, caller.user, token) as log, revision.lock():
                yield log
        except IntegrityError:
            raise conflict(_("Someone else changed this at the same time. Read it again.")) from None

    @staticmethod
    def read_if_match(request: Request) -> set[str]:
        """Return the versions that the client names in If-Match; refuse a request that names none."""
        header = request.headers.get("If-Match", "").strip()
        if header in ("", "*"):
            message = _("Send the ETag of the version you read as If-Match.")
            raise WriteError(status.HTTP_428_PRECONDITION_REQUIRED, message)
        # Proxies that compress make tags weak. They still identify the same version.
        return {tag.strip().removeprefix("W/") for tag in header.split(",")}

    def lock_row(
        self, request: Request, id: str, edition: str | None, action: str, body: Body | None = None
    ) -> Content:
        """Return the row, locked until the end of the transaction, as are its owner and the one in the body.

        Raises `WriteError` with the current version if the row has changed since the client read it.
        """
        key = self.rows_at(id, edition).values_list("pk", flat=True).first()
        all_rows: Rows = self.resource.model._base_manager.all()
        self.lock_owners(all_rows.filter(pk=key), body or {}, edition or "")
        # Lock in a statement of its own: a statement that waits for a lock may return old values.
        locked = all_rows.select_for_update().filter(pk=key).order_by("pk").values_list("pk", flat=True)
        if locked.first() is None:
            raise Http404
        row: Content = with_references(self.resource, all_rows).get(pk=key)
        rows.check_permissions(self.reader.caller, row, action)
        if etag_of(self.resource, row, writable_body(self.resource, row)) not in self.read_if_match(request):
            code = status.HTTP_412_PRECONDITION_FAILED
            response = self.row_response(request, row, Selection(), code, clash=False)
            message = _("This has changed since you read it. “current” is the current version.")
            raise WriteError(code, message, current=response.data)
        return row

    def lock_owners(self, rows: Rows, body: Body, edition: str) -> None:
        """Lock the owner of an ordered row, and the one to which the body moves it, both at once."""
        if is_ordered(model := self.resource.model):
            name = model.siblings_of
            target = referenced_row(self.resource, name, body, self.reader, edition)
            lock_owners(model, [*rows.values_list(f"{name}_id", flat=True), target.pk if target else None])

    # Bodies

    def read_body(self, request: Request, *, partial: bool) -> Body:
        serializer = body_serializer(self.resource)(data=request.data, partial=partial)
        if not serializer.is_valid():
            raise InvalidBodyError(dict(flat_errors(serializer.errors)))
        return dict(serializer.validated_data)

    def find_edition(self, body: Body) -> Edition | None:
        """Return the edition of a new row; raise `InvalidBodyError` if the caller may not see it."""
        if body.get("edition") is None:
            return None
        edition: Edition | None = self.reader.editions().filter(slug=body["edition"][1]).first()
        if edition is None:
            raise InvalidBodyError({"edition": [_("There is no such edition.")]})
        return edition

    @staticmethod
    def check_identity(body: Body, row: Content) -> None:
        """Raise `InvalidBodyError` if the body has another id or edition: they cannot be changed."""
        edition = edition_of(row)
        stored = {
            "id": getattr(row, "uid", getattr(row, "slug", None)),
            "edition": edition.slug if edition else None,
        }
        requested = {**stored, **({"id": body["id"]} if "id" in body else {})}
        if "edition" in body:
            requested["edition"] = (body["edition"] or (None, None))[1]
        errors = {
            name: [_("This can’t be changed later.")] for name in stored if requested[name] != stored[name]
        }
        if errors:
            raise InvalidBodyError(errors)

    # Responses

    def row_response(
        self, request: Request, row: Content, selection: Selection, code: int, *, clash: bool = True
    ) -> Response:
        """Return the response to a write: the row's fields, its writable fields, and warnings of clashes."""
        objects = self.reader.objects(self.resource, [row.pk], selection)
        response = Response(objects[0] if objects else {}, status=code)
        if clash:
            response.data["warnings"] = clash_warnings(row)
        all_rows: Rows = self.resource.model._base_manager.all()
        return self.add_version(request, response, with_references(self.resource, all_rows).get(pk=row.pk))

    def add_version(self, request: Request, response: Response, row: Content) -> Response:
        """Add the ETag, and the writable fields unless the request has `fields`."""
        body = writable_body(self.resource, row)
        if "fields" not in request.query_params:
            response.data["written"] = body
        response["ETag"] = etag_of(self.resource, row, body)
        return response
