"""URLconf of papers, topics, awards and statistics."""

from django.urls import path

from content import url_converters
from content.languages import in_each_language
from papers import views

__all__ = ["app_name", "url_converters", "urlpatterns"]

app_name = "papers"

urlpatterns = [
    path("<key:edition>/papers/<uid:uid>/card.png", views.paper_card, name="card"),
    in_each_language(
        path("awards/", views.all_awards, name="all_awards"),
        path("<key:edition>/awards/", views.award_list, name="awards"),
        path("<key:edition>/papers/", views.paper_list, name="list"),
        path("<key:edition>/papers/<uid:uid>/", views.paper_detail, name="short"),
        path("<key:edition>/papers/<uid:uid>/<str:slug>/", views.paper_detail, name="detail"),
        path("<key:edition>/statistics/", views.statistics_page, name="statistics"),
        path("<key:edition>/topics/<key:slug>/", views.topic_detail, name="topic"),
    ),
]
