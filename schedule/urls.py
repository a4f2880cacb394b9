"""URL patterns of the timetable."""

from django.urls import path
from django.views.decorators.http import require_safe

from content import url_converters
from content.languages import in_each_language
from schedule import views
from schedule.agenda import views as agendaviews
from schedule.invitations.views import invitation_view
from schedule.releases import ChangesFeed

__all__ = ["app_name", "url_converters", "urlpatterns"]

app_name = "schedule"

urlpatterns = [
    path("<key:edition>/sessions/<uid:uid>/card.png", views.session_card, name="card"),
    # nginx does not log the rest of an address after "/invitation/".
    path("invitation/program/<str:token>/", invitation_view, name="invited"),
    path("<key:edition>/changes.atom", require_safe(ChangesFeed()), name="changes_feed"),
    in_each_language(
        path("<key:edition>/schedule/", views.index, name="index"),
        path("<key:edition>/schedule/<str:day>/", views.day, name="day"),
        path("<key:edition>/sessions/<uid:uid>/", views.session, name="short"),
        path("<key:edition>/sessions/<uid:uid>/<str:slug>/", views.session, name="session"),
        path("<key:edition>/rooms/<key:slug>/", views.room, name="room"),
        path("<key:edition>/talks/", views.talks, name="talks"),
        path("<key:edition>/posters/", views.posters, name="posters"),
        path("<key:edition>/recordings/", views.recordings, name="recordings"),
        path("<key:edition>/agenda/", agendaviews.agenda, name="agenda"),
        path("<key:edition>/agenda/stars/", agendaviews.star_view, name="agenda_stars"),
        path("<key:edition>/agenda/sync/", agendaviews.sync, name="agenda_sync"),
        path("<key:edition>/agenda/<str:token>/", agendaviews.linked_agenda, name="agenda_link"),
        path("<key:edition>/changes/", views.changes, name="changes"),
    ),
]
