"""Lists and single things of every resource, as Django REST framework serves them."""

from typing import Any, ClassVar

from django.conf import settings
from django.http import Http404
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSetMixin

from api import selection
from api.conditional import Answering
from api.errors import BadValue, UnknownParameter
from api.files import FILES, Sending
from api.filters import ResourceFilter
from api.pagination import MAX_EXPANDED_ROWS, MOST, RELEVANCE, USUAL, Walk
from api.permissions import asker_of
from api.reader import Builder, Reader, ranked
from api.selection import Wanted
from api.shapes import Resource

JSON = "json"
# The method named list hides the type of that name from what stands below it.
type Keys = list[int]


class ReadOnlyViewSet(ViewSetMixin, Answering):
    """One resource: its list and one of it. Subclasses name the resource and what narrows its list."""

    resource: ClassVar[Resource]
    filterset: ClassVar[type[ResourceFilter]] = ResourceFilter

    @property
    def reader(self) -> Reader:
        """Who reads; asked once for each request."""
        memory = vars(self)
        if "_reader" not in memory:
            memory["_reader"] = Reader(timezone.now(), asker_of(self.request))
        reader: Reader = memory["_reader"]
        return reader

    # Requests

    def list(self, request: Request) -> HttpResponseBase:
        parameters = request.query_params
        others = ["format"] if self.resource.name in FILES else []
        chooser = self.filterset(parameters, self.reader.rows(self.resource.model), self.reader, others)
        rows = chooser.narrowed()
        sending = self.sending(parameters.get("format", ""))
        if sending:
            return sending(request, self.reader, self.found(parameters.get("q", ""), rows))
        wanted = self.wanted(request)
        walk = self.walk(request, wanted)
        words = parameters.get("q", "")
        if words and walk.order in ("", RELEVANCE):
            keys, following = walk.ranked_page(self.best(words, rows, parameters.get("edition", "")))
        else:
            keys, following = walk.page(self.found(words, rows))
        results = Builder(self.reader).in_order(self.resource, keys, wanted)
        return Response({"next": self.next_url(request, following), "results": results})

    def retrieve(self, request: Request, id: str, edition: str | None = None) -> Response:
        for name in request.query_params:
            if name not in ("fields", "expand"):
                raise UnknownParameter(name, ("fields", "expand"))
        wanted = self.wanted(request)
        key = self.addressed(id, edition).values_list("pk", flat=True).first()
        found = Builder(self.reader).in_order(self.resource, [] if key is None else [key], wanted)
        if found:
            return Response(found[0])
        url = self.moved_to(id)
        if url is None:
            raise Http404
        return Response(status=status.HTTP_301_MOVED_PERMANENTLY, headers={"Location": url})

    def moved_to(self, id: str) -> str | None:
        """Return the address at which what is no longer here goes on."""
        return None

    # What is asked for

    def addressed(self, id: str, edition: str | None) -> Any:
        """Return the visible rows with this address: one or none."""
        lookup: dict[str, Any] = {self.resource.key: id}
        if self.resource.edition:
            lookup[self.resource.edition] = edition
        if edition is None and self.resource.edition_optional:
            lookup = {self.resource.key: id, "edition__isnull": True}
        return self.reader.rows(self.resource.model).filter(**lookup)

    def sending(self, name: str) -> Sending | None:
        """Return what sends the list as a file of this format; nothing for JSON."""
        known = FILES.get(self.resource.name, {})
        if name not in known and name not in ("", JSON):
            raise BadValue("format", name, allowed=[JSON, *known])
        return known.get(name)

    def wanted(self, request: Request) -> Wanted:
        parameters = request.query_params
        return selection.read(self.resource, parameters.get("fields", ""), parameters.get("expand", ""))

    def walk(self, request: Request, wanted: Wanted) -> Walk:
        parameters = request.query_params
        order = parameters.get("ordering", "")
        known = [name for field in self.resource.orders for name in (field, f"-{field}")]
        known += [RELEVANCE] if self.resource.kind and parameters.get("q") else []
        if order and order not in known:
            raise BadValue("ordering", order, allowed=known)
        most = MAX_EXPANDED_ROWS if wanted.expanded else MOST
        size = parameters.get("page_size", "")
        if size and not (size.isascii() and size.isdigit() and int(size[:9])):
            raise BadValue("page_size", size, _("Give a number from 1 to %(most)d.") % {"most": most})
        number = min(int(size[:9]), most) if size else USUAL
        return Walk(number, order, parameters.get("cursor", ""), self.resource.orders)

    def best(self, words: str, rows: Any, edition: str) -> Keys:
        """Return the keys of the rows that the words find, the best first."""
        keys = ranked(words, self.resource.kind, edition)
        left = set(rows.order_by().filter(pk__in=keys).values_list("pk", flat=True))
        return [key for key in keys if key in left]

    def found(self, words: str, rows: Any) -> Any:
        return rows.filter(pk__in=ranked(words, self.resource.kind)) if words else rows

    def next_url(self, request: Request, following: object) -> str | None:
        """Return the address of the next page: this one with another cursor."""
        if following is None:
            return None
        query = request.query_params.copy()
        query["cursor"] = str(following)
        return f"{settings.SITE_URL}{request.path}?{query.urlencode(safe=',/:')}"
