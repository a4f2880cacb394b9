"""What the API answers beside its resources: where everything is, and that there is nothing."""

from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response

from api.conditional import Answering
from api.errors import UnknownParameter
from api.schema import schema
from api.shapes import RESOURCES, list_url


class Root(Answering):
    """Where the list of each resource is."""

    def get(self, request: Request) -> Response:
        for name in request.query_params:
            raise UnknownParameter(name, ())
        return Response({name: list_url(name) for name in RESOURCES})


class Schema(Answering):
    """The description of the API in OpenAPI 3.1."""

    schema = None

    def get(self, request: Request) -> Response:
        for name in request.query_params:
            raise UnknownParameter(name, ())
        return Response(schema())


class Unknown(Root):
    """Addresses that lead nowhere: JSON, as from all of the API."""

    schema = None

    def get(self, request: Request, rest: str) -> Response:  # type: ignore[override]
        raise Http404

    post = put = patch = delete = get
