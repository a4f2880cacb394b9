"""Views of lists and single rows of the resources, the root, the schema, and unknown addresses."""

from collections.abc import Collection
from functools import cached_property
from typing import Any

from django.conf import settings
from django.http import Http404, QueryDict
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSetMixin

from api.conditional import ConditionalView
from api.errors import BadValue, UnknownParameter
from api.files import FILES, Sender
from api.filters import EARLIEST, LIST_PARAMETERS, ResourceFilter
from api.former import former_row, former_rows, json_object
from api.pagination import MAX_EXPANDED_ROWS, MAX_PAGE_SIZE, PAGE_SIZE, RELEVANCE, Page
from api.permissions import get_caller
from api.reader import Reader, Selection, search_keys, select
from api.resources import RESOURCES
from api.schema import schema
from api.shapes import Resource, Rows, list_url, to_utc_iso
from conference.models import Edition
from content.replica import read_from_replica
from people.models import Institution, Person

JSON = "json"
DELETED = "deleted"
# Parameters of a list of rows that are no longer public.
DELETED_PARAMETERS = (DELETED, "edition", "conference", "changed_since", "page_size", "cursor")
FORMAT_HINT = gettext_lazy("Leave it out if you use “format”: a file has the whole list and fixed columns.")


def refuse_unknown(request: Request, allowed: Collection[str]) -> None:
    for name in request.query_params:
        if name not in allowed:
            raise UnknownParameter(name, allowed)


class ReadOnlyViewSet(ViewSetMixin, ConditionalView):
    """Views of a resource: its list and its single rows. Pass the resource to `as_view()`."""

    # Always set by `as_view()`, which accepts only names of class attributes.
    resource: Resource = None  # type: ignore[assignment]

    @cached_property
    def reader(self) -> Reader:
        return Reader(timezone.now(), get_caller(self.request))

    # Requests

    def list(self, request: Request) -> HttpResponseBase:
        seen_until = self.seen_until(self.reader.at)
        if seen_until is None:
            response = self.list_rows(request, None)
            # The next answer may say it.
            response["Cache-Control"] = "no-store"
            return response
        with read_from_replica(allowed=False):
            return self.list_rows(request, to_utc_iso(seen_until))

    def list_rows(self, request: Request, as_of: str | None) -> HttpResponseBase:
        parameters, resource = request.query_params, self.resource
        filters: type[ResourceFilter] = resource.filters or ResourceFilter
        other_parameters = ["format"] if resource.name in FILES else []
        other_parameters += [DELETED]
        filter_set = filters(parameters, resource, self.reader, other_parameters)
        rows = filter_set.filtered_rows()
        if self.asks_for_deleted(parameters):
            return self.list_deleted(request, filter_set.form.cleaned_data)
        text = parameters.get("q", "")
        if send := self.get_sender(parameters.get("format", "")):
            for name in LIST_PARAMETERS:
                if parameters.get(name):
                    raise BadValue(name, parameters[name], FORMAT_HINT)
            return send(request, self.reader, self.search_rows(text, rows))
        selection = self.selection(request)
        page = self.page(request, selection)
        if text and page.order in ("", RELEVANCE):
            ranking = search_keys(text, resource.kind, parameters.get("edition", ""))
            matching_keys = set(rows.order_by().filter(pk__in=ranking).values_list("pk", flat=True))
            keys, next_cursor = page.paginate_keys([key for key in ranking if key in matching_keys])
        else:
            keys, next_cursor = page.paginate_rows(self.search_rows(text, rows))
        results = self.reader.objects(resource, keys, selection)
        return Response({"next": self.next_url(request, next_cursor), "as_of": as_of, "results": results})

    def asks_for_deleted(self, parameters: QueryDict) -> bool:
        """Return whether to list deleted rows; raise `BadValue` if other parameters do not allow it."""
        value = parameters.get(DELETED, "")
        if value.lower() not in ("", "true", "false"):
            raise BadValue(DELETED, value, allowed=["true", "false"])
        if value.lower() != "true":
            return False
        for name, other_value in parameters.items():
            if name not in DELETED_PARAMETERS and other_value:
                raise BadValue(name, str(other_value), _("Leave it out if you use “deleted”."))
        return True

    def list_deleted(self, request: Request, filters: dict[str, Any]) -> Response:
        """List the rows that are no longer public, in the order in which they ceased to be."""
        at, editions = self.reader.at, Edition.objects.published(self.reader.at).order_by()
        if filters.get("edition"):
            editions = editions.filter(slug=filters["edition"].rpartition("/")[2])
        if filters.get("conference"):
            editions = editions.filter(conference__slug=filters["conference"])
        is_narrowed = filters.get("edition") or filters.get("conference")
        keys = [*editions.values_list("pk", flat=True)] if is_narrowed else None
        rows = former_rows(self.resource, keys, at, filters.get("changed_since") or EARLIEST)
        page = self.page(request, Selection())
        page_keys, next_cursor = page.paginate_keys([*rows.values_list("pk", flat=True)])
        # A row that has become public again since the keys were read is no longer here.
        tombstones = rows.in_bulk(page_keys)
        results = [json_object(self.resource, tombstones[key]) for key in page_keys if key in tombstones]
        return Response({"next": self.next_url(request, next_cursor), "results": results})

    def retrieve(self, request: Request, id: str, edition: str | None = None) -> Response:
        refuse_unknown(request, ("fields", "expand"))
        selection = self.selection(request)
        key = self.rows_at(id, edition).values_list("pk", flat=True).first()
        objects = self.reader.objects(self.resource, [] if key is None else [key], selection)
        if objects:
            return Response(objects[0])
        url = self.moved_to(id)
        if url is None:
            tombstone = former_row(self.resource, edition, id, self.reader.at)
            if tombstone is not None and tombstone.moved_to:
                url = self.resource.url(edition, tombstone.moved_to)
            elif tombstone is None or not tombstone.is_told:
                raise Http404
            else:
                former = json_object(self.resource, tombstone)
                return Response(
                    {"detail": _("It is no longer public."), **former}, status=status.HTTP_410_GONE
                )
        return Response(status=status.HTTP_301_MOVED_PERMANENTLY, headers={"Location": url})

    def moved_to(self, id: str) -> str | None:
        """Return the address of the person or institution that this one was merged into, if any."""
        model = self.resource.model
        if model not in (Person, Institution):
            return None
        survivor = model._default_manager.survivor(id, self.reader.at)
        return self.resource.url(None, getattr(survivor, self.resource.key)) if survivor else None

    # Parameters

    def rows_at(self, id: str, edition: str | None) -> Rows:
        """Return the visible rows with this address: one or none."""
        lookup: dict[str, object] = {self.resource.key: id}
        if edition is None and self.resource.edition_optional:
            lookup["edition__isnull"] = True
        elif self.resource.edition:
            lookup[self.resource.edition] = edition
        return self.reader.rows(self.resource.model).filter(**lookup)

    def get_sender(self, name: str) -> Sender | None:
        """Return the sender of this file format, `None` for JSON; raise `BadValue` for an unknown format."""
        senders = FILES.get(self.resource.name, {})
        if name not in senders and name not in ("", JSON):
            raise BadValue("format", name, allowed=[JSON, *senders])
        return senders.get(name)

    def selection(self, request: Request) -> Selection:
        parameters = request.query_params
        return select(self.resource, parameters.get("fields", ""), parameters.get("expand", ""))

    def page(self, request: Request, selection: Selection) -> Page:
        parameters = request.query_params
        order = parameters.get("ordering", "")
        orders = [name for field in self.resource.orders for name in (field, f"-{field}")]
        orders += [RELEVANCE] if self.resource.kind and parameters.get("q") else []
        if order and order not in orders:
            raise BadValue("ordering", order, allowed=orders)
        limit = MAX_EXPANDED_ROWS if selection.expanded else MAX_PAGE_SIZE
        size = parameters.get("page_size", "")
        if size and not (size.isascii() and size.isdigit() and int(size[:9])):
            raise BadValue("page_size", size, _("Enter a number from 1 to %(limit)d.") % {"limit": limit})
        number = min(int(size[:9]), limit) if size else PAGE_SIZE
        return Page(number, order, parameters.get("cursor", ""), self.resource.orders)

    def search_rows(self, text: str, rows: Rows) -> Rows:
        return rows.filter(pk__in=search_keys(text, self.resource.kind)) if text else rows

    def next_url(self, request: Request, cursor: object) -> str | None:
        """Return the URL of the next page, which differs only in the cursor; `None` after the last page."""
        if cursor is None:
            return None
        query = request.query_params.copy()
        query["cursor"] = str(cursor)
        return f"{settings.SITE_URL}{request.path}?{query.urlencode(safe=',/:')}"


class Root(ConditionalView):
    def get(self, request: Request) -> Response:
        refuse_unknown(request, ())
        return Response({name: list_url(name) for name in RESOURCES})


class Schema(ConditionalView):
    def get(self, request: Request) -> Response:
        refuse_unknown(request, ())
        return Response(schema())


class Unknown(ConditionalView):
    """View of unknown addresses: a 404 in JSON."""

    def get(self, request: Request, rest: str) -> Response:
        raise Http404

    post = put = patch = delete = get
