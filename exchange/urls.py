"""URLs of downloads."""

from collections.abc import Callable, Iterator

from django.http.response import HttpResponseBase
from django.urls import URLPattern, path

from content import url_converters
from content.languages import in_each_language
from exchange import views
from exchange.exports import agenda_files
from exchange.exports.citation_files import FORMATS
from exchange.exports.downloads import APP_FORMATS, url_name

__all__ = ["app_name", "url_converters", "urlpatterns"]

app_name = "exchange"


def references(route: str, view: Callable[..., HttpResponseBase], name: str) -> Iterator[URLPattern]:
    """Yield a URL pattern for each format of citations: `paper_bib`, `paper_ris`, `paper_csl`."""
    for ending in FORMATS:
        yield path(f"{route}.{ending}", view, {"ending": ending}, name=f"{name}_{url_name(ending)}")


urlpatterns = [
    path("<key:edition>/downloads/<str:form>/<str:file>", views.program_file, name="program_file"),
    *references("<key:edition>/papers", views.edition_references, "edition"),
    *references("<key:edition>/papers/<uid:uid>", views.paper_references, "paper"),
    *references("<key:edition>/topics/<key:slug>", views.topic_references, "topic"),
    *references("people/<uid:uid>", views.person_references, "person"),
    path("<key:edition>/papers.csv", views.paper_table, {"form": "csv"}, name="papers_csv"),
    path("<key:edition>/papers.xlsx", views.paper_table, {"form": "xlsx"}, name="papers_xlsx"),
    path("<key:edition>/papers.ics", views.papers_calendar, name="papers_calendar"),
    *(
        path(
            f"<key:edition>/schedule.{ending}",
            views.app_schedule,
            {"ending": ending},
            name=f"schedule_{ending}",
        )
        for ending in APP_FORMATS
    ),
    path("<key:edition>/schedule.ics", views.edition_calendar, name="edition_calendar"),
    path("<key:edition>/schedule/<str:day>.ics", views.day_calendar, name="day_calendar"),
    path("<key:edition>/sessions/<uid:uid>.ics", views.session_calendar, name="session_calendar"),
    path("<key:edition>/rooms/<key:slug>.ics", views.room_calendar, name="room_calendar"),
    path("<key:edition>/topics/<key:slug>.ics", views.topic_calendar, name="topic_calendar"),
    path("<key:edition>/papers/<uid:uid>.ics", views.paper_calendar, name="paper_calendar"),
    path(
        "<key:edition>/presentations/<uid:uid>.ics", views.presentation_calendar, name="presentation_calendar"
    ),
    path("people/<uid:uid>.ics", views.person_calendar, name="person_calendar"),
    path("<key:edition>/agenda.<str:ending>", agenda_files.agenda_file, name="agenda_file"),
    path("<key:edition>/agenda/<str:token>.ics", agenda_files.agenda_calendar, name="agenda_calendar"),
    in_each_language(
        path("<key:edition>/downloads/", views.index, name="downloads"),
    ),
]
