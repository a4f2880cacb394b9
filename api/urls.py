"""URL patterns of the API: the list of each resource, and below it single rows by edition and id."""

from collections.abc import Iterator

from django.urls import URLPattern, path, re_path

from api import views
from api.documentation import docs_page
from api.resources import RESOURCES
from api.shapes import VERSION, Resource
from api.unreleased_bodies import NAME as UNRELEASED
from api.unreleased_changes import UnreleasedChangeViewSet
from api.writing.views import ResourceViewSet
from content import url_converters

__all__ = ["app_name", "url_converters", "urlpatterns"]

app_name = "api"

# The path converter of the id, by its column.
CONVERTERS = {"slug": "key", "uid": "uid", "number": "number", "pk": "number"}


def addresses(resource: Resource) -> Iterator[URLPattern]:
    """Yield the URL patterns of the list and of single rows."""
    name, ending = resource.name, f"<{CONVERTERS[resource.key]}:id>/"
    creating = {"post": "create"} if resource.writable else {}
    changing = {"patch": "partial_update", "delete": "destroy"} if resource.writable else {}
    list_view = ResourceViewSet.as_view({"get": "list", **creating}, resource=resource)
    row_view = ResourceViewSet.as_view({"get": "retrieve", **changing}, resource=resource)
    yield path(f"{VERSION}/{name}/", list_view, name=name)
    if resource.edition:
        yield path(f"{VERSION}/{name}/<key:edition>/{ending}", row_view, name=f"{name}_one")
    if not resource.edition or resource.edition_optional:
        yield path(f"{VERSION}/{name}/{ending}", row_view, name=f"{name}_of_site")


urlpatterns = [
    *(pattern for resource in RESOURCES.values() for pattern in addresses(resource)),
    path(f"{VERSION}/{UNRELEASED}/", UnreleasedChangeViewSet.as_view({"get": "list"}), name=UNRELEASED),
    path(
        f"{VERSION}/{UNRELEASED}/release/",
        UnreleasedChangeViewSet.as_view({"post": "release"}),
        name=f"{UNRELEASED}_release",
    ),
    path(
        f"{VERSION}/{UNRELEASED}/<number:pk>/",
        UnreleasedChangeViewSet.as_view({"get": "retrieve", "delete": "destroy"}),
        name=f"{UNRELEASED}_one",
    ),
    path(f"{VERSION}/", views.Root.as_view(), name="root"),
    path("schema/", views.Schema.as_view(), name="schema"),
    path("docs/", docs_page, name="docs"),
    # Match all other paths, even with line breaks, so that every response below /api/ is JSON.
    re_path(r"^(?P<rest>[\s\S]+)\Z", views.Unknown.as_view(), name="unknown"),
]
