"""The pages of papers and awards. What is public, and in which order, is asked of the querysets."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from conference.addressed import edition_page
from conference.models import Edition
from conference.paging import base_query, page_of
from papers.bylines import byline
from papers.facets import PaperFilter
from papers.models import Award, Paper, Topic

PAGE_SIZE = 50


def papers_crumb(edition: Edition) -> tuple[str, str]:
    """Return the way up from a paper or a topic."""
    return "Papers", reverse("papers:list", args=[edition.slug])


@edition_page
def paper_list(request: HttpRequest, edition: Edition) -> HttpResponse:
    """Show all papers: narrowed by words, topic and track; by title, by time, in groups."""
    papers = edition.papers.published()
    topics = edition.topics.published().with_counts().select_related("parent")
    chooser = PaperFilter(request.GET, papers, topics, papers.tracks())
    chosen = chooser.chosen
    page = page_of(request, chooser.rows.for_cards(), PAGE_SIZE)
    context = {
        "chooser": chooser,
        "chosen": chosen,
        "page": page,
        "groups": chooser.groups(page),
        "base_query": base_query(chosen),
        "view_query": base_query(chosen, but=["by"]),
    }
    return render(request, "papers/list.html", context)


@edition_page
def topic_detail(request: HttpRequest, edition: Edition, slug: str) -> HttpResponse:
    """Show a topic with the papers in it and below it."""
    topics = edition.topics.published().select_related("parent__parent", "edition")
    topic = get_object_or_404(topics, slug=slug)
    papers = edition.papers.published().below(topic).by_title().for_cards()
    context = {
        "topic": topic,
        "subtopics": Topic.objects.published().filter(parent=topic).with_counts().select_related("edition"),
        "page": page_of(request, papers, PAGE_SIZE),
        "crumbs": [
            papers_crumb(edition),
            *((above.name, above.get_absolute_url()) for above in topic.ancestors),
        ],
    }
    return render(request, "papers/topic.html", context)


@edition_page
def paper_detail(request: HttpRequest, edition: Edition, uid: str, slug: str = "") -> HttpResponse:
    """Show a paper with all its appearances, awards and materials."""
    paper: Paper = get_object_or_404(edition.papers.published().in_full(), uid=uid)
    if request.path != paper.get_absolute_url():
        return redirect(paper, permanent=True)
    context = {
        "paper": paper,
        "byline": byline(paper.shown_authors),
        "crumbs": [papers_crumb(edition)],
    }
    return render(request, "papers/detail.html", context)


@edition_page
def award_list(request: HttpRequest, edition: Edition) -> HttpResponse:
    """Show the awards of an edition, each paper once, in the chairs' order."""
    return render(request, "papers/awards.html", {"awards": edition.awards.published().with_winners()})


@require_safe
def all_awards(request: HttpRequest) -> HttpResponse:
    """Show the awards of all years, newest first."""
    awards = Award.objects.published().newest_first().with_winners()
    return render(request, "papers/all_awards.html", {"years": awards.grouped("edition")})
