"""URL patterns of free pages, sponsors and the art."""

from django.urls import path

from conference import views
from content import url_converters
from content.languages import in_each_language

__all__ = ["app_name", "url_converters", "urlpatterns"]

app_name = "conference"

urlpatterns = [
    path("<key:edition>/art-<uid:digest>.svg", views.edition_art, name="art"),
    in_each_language(
        path("pages/<key:slug>/", views.site_page_detail, name="site_page"),
        path("<key:edition>/pages/<key:slug>/", views.page_detail, name="page"),
        path("<key:edition>/sponsors/", views.sponsor_list, name="sponsors"),
    ),
]
