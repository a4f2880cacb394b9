"""The addresses of people, institutions and committees."""

from django.urls import path

from conference import converters
from people import joinviews, views

__all__ = ["app_name", "converters", "urlpatterns"]

app_name = "people"

urlpatterns = [
    path("invitation/<str:token>/", joinviews.invitation, name="invitation"),
    path("people/", views.person_list, name="list"),
    path("people/<uid:uid>/", views.person_detail, name="short"),
    path("people/<uid:uid>/<str:slug>/", views.person_detail, name="detail"),
    path("institutions/", views.institution_list, name="institutions"),
    path("institutions/<key:slug>/", views.institution_detail, name="institution"),
    path("<key:edition>/committee/", views.committee, name="committee"),
]
