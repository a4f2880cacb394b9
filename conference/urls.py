"""The addresses of free pages, sponsors and the accent color."""

from django.urls import path

from conference import views
from content import url_converters

__all__ = ["app_name", "url_converters", "urlpatterns"]

app_name = "conference"

urlpatterns = [
    path("pages/<key:slug>/", views.site_page_detail, name="site_page"),
    path("<key:edition>/pages/<key:slug>/", views.page_detail, name="page"),
    path("<key:edition>/sponsors/", views.sponsor_list, name="sponsors"),
    path("<key:edition>/accent-<color:color>.css", views.accent_stylesheet, name="accent"),
]
