"""The addresses of the API: a list of each resource, and below it each thing with its edition and id."""

from collections.abc import Iterator

from django.urls import URLPattern, path, re_path

from api import views
from api.documentation import docs_page
from api.endpoints import VIEWSETS
from api.shapes import VERSION
from api.viewsets import ReadOnlyViewSet
from api.writing.writable import WRITABLE
from content import url_converters

__all__ = ["app_name", "url_converters", "urlpatterns"]

app_name = "api"

# How the identity of a thing is written in an address, by the column that holds it.
FORMS = {"slug": "key", "uid": "uid", "number": "number", "pk": "number"}


def addresses(view: type[ReadOnlyViewSet]) -> Iterator[URLPattern]:
    """Make the address of the list, and of one thing."""
    resource = view.resource
    ending = f"<{FORMS[resource.key]}:id>/"
    is_written = resource.name in WRITABLE
    making = {"post": "create"} if is_written else {}
    changing = {"patch": "partial_update", "delete": "destroy"} if is_written else {}
    one = view.as_view({"get": "retrieve", **changing})
    yield path(f"{VERSION}/{resource.name}/", view.as_view({"get": "list", **making}), name=resource.name)
    if resource.edition:
        yield path(f"{VERSION}/{resource.name}/<key:edition>/{ending}", one, name=f"{resource.name}_one")
    if not resource.edition or resource.edition_optional:
        yield path(f"{VERSION}/{resource.name}/{ending}", one, name=f"{resource.name}_of_site")


urlpatterns = [
    *(pattern for view in VIEWSETS for pattern in addresses(view)),
    path(f"{VERSION}/", views.Root.as_view(), name="root"),
    path("schema/", views.Schema.as_view(), name="schema"),
    path("docs/", docs_page, name="docs"),
    # Whatever it is, line breaks too: everything below /api/ answers in JSON.
    re_path(r"^(?P<rest>[\s\S]+)\Z", views.Unknown.as_view(), name="unknown"),
]
