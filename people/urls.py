"""URLconf of people, institutions and committees."""

from django.urls import path

from content import url_converters
from content.languages import in_each_language
from people import invitation_views, views

__all__ = ["app_name", "url_converters", "urlpatterns"]

app_name = "people"

urlpatterns = [
    path("invitation/<str:token>/", invitation_views.invitation, name="invitation"),
    in_each_language(
        path("people/", views.person_list, name="list"),
        path("people/<uid:uid>/", views.person_detail, name="short"),
        path("people/<uid:uid>/<str:slug>/", views.person_detail, name="detail"),
        path("institutions/", views.institution_list, name="institutions"),
        path("institutions/<key:slug>/", views.institution_detail, name="institution"),
        path("<key:edition>/committee/", views.committee, name="committee"),
    ),
]
