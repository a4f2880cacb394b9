"""The resource `unreleased-changes`: lists what waits for a release, takes changes back, releases them.

Those who see unreleased changes on the desk see them here; what each may do is the same.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.http import quote_etag
from django.utils.translation import gettext as _
from rest_framework import mixins, permissions, serializers, status
from rest_framework.exceptions import PermissionDenied
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from accounts.access_scope import access_of
from api.conditional import ConditionalView
from api.errors import InvalidBodyError, WriteError, conflict, flat_errors
from api.pagination import MAX_PAGE_SIZE, PAGE_SIZE
from api.permissions import Caller, get_caller
from api.unreleased_bodies import ChangeSerializer, ReleaseBody, addresses
from api.views import refuse_unknown
from api.writing.views import ResourceViewSet
from conference.models import Edition
from content import revision
from content.history import Origin
from content.history.recording import recording
from content.unreleased.plan import read_version
from content.write_conflicts import retry_conflicts
from schedule.models import Release, ReleasePlan, UnreleasedChange
from schedule.unreleased import releasing
from schedule.unreleased.conflicts import RefusedError, attach_rows, find_conflicts, locked
from schedule.unreleased.new_clashes import NewClashesError
from schedule.unreleased.releasing import with_dependents


class SeesUnreleasedChanges(permissions.BasePermission):
    """Staff who see the unreleased changes of any edition on the desk."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return get_caller(request).may("view", UnreleasedChange)


class ChangePagination(CursorPagination):
    """Pages in the order of the ids, as lists of other resources have them."""

    ordering = "pk"
    page_size = PAGE_SIZE
    max_page_size = MAX_PAGE_SIZE
    page_size_query_param = "page_size"

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"next": self.get_next_link(), "results": data})


class UnreleasedChangeViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, ConditionalView, GenericViewSet[UnreleasedChange]
):
    """Views of the unreleased changes of the editions in which the caller may see them."""

    serializer_class = ChangeSerializer
    pagination_class = ChangePagination
    permission_classes = (SeesUnreleasedChanges,)

    @property
    def caller(self) -> Caller:
        return get_caller(self.request)

    def editions(self) -> Any:
        """Return the editions whose unreleased changes the caller may see."""
        access, editions = access_of(self.caller.user), Edition._default_manager.order_by()
        if not access.may_everywhere("view", UnreleasedChange):
            editions = editions.filter(pk__in=access.editions("view", UnreleasedChange))
        return editions.filter(pk=self.caller.edition) if self.caller.edition is not None else editions

    def get_queryset(self) -> Any:
        rows = UnreleasedChange.objects.filter(edition__in=self.editions()).select_related("edition")
        slug = self.request.query_params.get("edition")
        return rows.filter(edition=get_object_or_404(self.editions(), slug=slug)) if slug else rows

    def get_serializer(self, *args: Any, **kwargs: Any) -> Any:
        """Read what the changes refer to, in a fixed number of queries."""
        rows = args[0]
        changes = [rows] if isinstance(rows, UnreleasedChange) else [*rows]
        attach_rows(changes)
        conflicts: dict[int, list[Any]] = {}
        for found in find_conflicts(changes):
            conflicts.setdefault(found.change.pk, []).append(found)
        context = {
            "addresses": addresses(changes, (found for group in conflicts.values() for found in group)),
            "conflicts": conflicts,
        }
        return ChangeSerializer(*args, **kwargs, context=context)

    # Requests

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        refuse_unknown(request, ("edition", "page_size", "cursor"))
        version = None
        if slug := request.query_params.get("edition"):
            # Before the rows: what comes later is not in it.
            version = read_version(get_object_or_404(self.editions(), slug=slug).pk)
        response = super().list(request, *args, **kwargs)
        response.data["version"] = version
        return response

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        refuse_unknown(request, ())
        response = super().retrieve(request, *args, **kwargs)
        response["ETag"] = etag_of(response.data["id"], response.data["at"])
        return response

    @retry_conflicts
    def destroy(self, request: Request, pk: int) -> Response:
        """Take a change back, with those that need its new row."""
        change = self.get_object()
        self.require_writing()
        versions = ResourceViewSet.read_if_match(request)
        with self.record_changes():
            changes = locked(releasing.changes_of(change.edition))
            current = next((other for other in changes if other.pk == change.pk), None)
            if current is None:
                raise Http404
            if etag_of(pk, serializers.DateTimeField().to_representation(current.at)) not in versions:
                message = _("This has changed since you read it. “current” is the current version.")
                content = self.get_serializer(current).data
                raise WriteError(status.HTTP_412_PRECONDITION_FAILED, message, current=content)
            taken_back = with_dependents(changes, {pk})
            user: Any = self.caller.user
            is_own = all(other.by_id == user.pk for other in taken_back)
            if not is_own and not self.may_release(change.edition):
                raise PermissionDenied(_("You may take back only your own changes."))
            plan = ReleasePlan.objects.get(edition=change.edition)
            releasing.discard(plan, chosen=[pk])
        return Response(status=status.HTTP_204_NO_CONTENT)

    @retry_conflicts
    def release(self, request: Request) -> Response:
        """Make changes public, all or none."""
        refuse_unknown(request, ())
        self.require_writing()
        body = ReleaseBody(data=request.data)
        if not body.is_valid():
            raise InvalidBodyError(dict(flat_errors(body.errors)))
        values = body.validated_data
        edition = get_object_or_404(self.editions(), slug=values["edition"])
        if not self.may_release(edition):
            raise PermissionDenied(_("You don’t have permission to release changes of this edition."))
        plan = ReleasePlan.objects.open().filter(edition=edition).first()
        if plan is None:
            raise conflict(_("Changes are public at once. Nothing waits for a release."))
        try:
            released = releasing.release(
                plan,
                self.caller.user,
                timezone.now(),
                seen=values.get("version"),
                chosen=values.get("ids"),
                choices=values.get("choices"),
                confirmed=values.get("confirmed_clashes", ()),
            )
        except NewClashesError as error:
            message = _("The release would bring new clashes. Name them in confirmed_clashes to accept them.")
            raise conflict(message, reasons=error.reasons, clashes=error.keys) from None
        except RefusedError as error:
            raise conflict(" ".join(error.reasons), reasons=error.reasons) from None
        return Response({"released": released.change_count})

    # Permissions

    def require_writing(self) -> None:
        if not self.caller.writes:
            raise PermissionDenied(_("This token is read-only."))

    def may_release(self, edition: Edition) -> bool:
        return access_of(self.caller.user).may_inline("add", Release, edition)

    @contextmanager
    def record_changes(self) -> Iterator[None]:
        token = self.caller.token.name if self.caller.token else ""
        with recording(Origin.API, self.caller.user, token), revision.lock():
            yield


def etag_of(key: object, at: object) -> str:
    """Return the version of a change: it differs after each edit."""
    return quote_etag(f"{key}-{at}")
