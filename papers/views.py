"""Views of papers and awards."""

import secrets
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.csp import CSP, build_policy
from django.utils.html import escape
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

import markup
from conference.cards import Picture, card_response, edition_line
from conference.headers import permissions_with_players
from conference.models import Edition
from conference.page_metadata import Card
from conference.request_edition import edition_page, shows_planned_state
from content.page_paths import page_path
from content.pagination import paginate
from content.publicity.tombstones import Tombstone, find_tombstone
from papers.models import Authorship, Award, Paper
from papers.page_metadata import byline, byline_text, card_text, paper_head
from papers.paper_search import PaperSearch
from papers.related import find_related
from papers.statistics import statistics
from papers.templatetags.video import player_hosts
from people.querysets import with_shown_names

PAGE_SIZE = 50
# The number of papers on a page with abstracts.
DETAILED_SIZE = 20


def papers_crumb(edition: Edition) -> tuple[str, str]:
    return gettext("Papers"), reverse("papers:list", args=[edition.slug])


@edition_page
def paper_list(request: HttpRequest, edition: Edition) -> HttpResponse:
    chooser = PaperSearch(request.GET, edition)
    chosen = chooser.chosen
    if chosen["sort"] == "random" and not chosen["seed"]:
        seed = secrets.randbelow(999_999) + 1
        return redirect(f"{request.path}?{chooser.query(seed=str(seed))}")
    chooser.look_up()
    detailed = chosen["view"] == "detailed"
    page = paginate(request, chooser.keys, DETAILED_SIZE if detailed else PAGE_SIZE)
    papers = edition.papers.published().in_key_order(list(page)).list_rows(detailed=detailed)
    query, files_query = chooser.query(), chooser.query(without=["sort", "seed", "by", "view"])
    canonical_query = "&".join(filter(None, (query, f"page={page.number}" if page.number > 1 else "")))
    address = f"{settings.SITE_URL}{request.path}"
    context = {
        "chooser": chooser,
        "chosen": chosen,
        # The value of the list's own search box. The one in the header is for all kinds of results.
        "entered_text": chooser.text,
        "corrected": str(chooser.searched_query) if chooser.is_corrected else "",
        "page": page,
        "papers": papers,
        "groups": chooser.groups(papers),
        "files_query": f"?{files_query}" if files_query else "",
        "base_query": f"{query}&" if query else "",
        "canonical_url": f"{address}?{canonical_query}" if canonical_query else address,
    }
    return render(request, "papers/list.html", context)


@edition_page
def topic_detail(request: HttpRequest, edition: Edition, slug: str) -> HttpResponse:
    topics = edition.topics.published()
    topic = get_object_or_404(topics.select_related("parent__parent__parent"), slug=slug)
    page = paginate(request, edition.papers.published().in_topic(topic).by_title(), PAGE_SIZE)
    papers: Any = page.object_list
    page.object_list = papers.list_rows()
    context = {
        "topic": topic,
        "files_query": f"?topic={topic.slug}",
        "subtopics": topics.filter(parent=topic).with_counts(),
        "page": page,
        "crumbs": [
            papers_crumb(edition),
            *(
                (ancestor.name, page_path("papers:topic", edition.slug, ancestor.slug))
                for ancestor in topic.ancestors
            ),
        ],
    }
    return render(request, "papers/topic.html", context)


@shows_planned_state
@edition_page
def paper_detail(request: HttpRequest, edition: Edition, uid: str, slug: str = "") -> HttpResponse:
    paper: Paper | None = edition.papers.published().with_details().filter(uid=uid).first()
    if paper is None:
        return former_paper_page(request, edition, uid)
    paper.edition = edition
    if request.path != paper.get_absolute_url():
        return redirect(paper, permanent=True)
    picture = Card(reverse("papers:card", args=[edition.slug, uid]), card_text(paper))
    hosts = player_hosts(paper)
    context = {
        "paper": paper,
        "head": paper_head(paper, picture),
        "byline": byline(paper.shown_authors),
        "related": find_related(paper),
        "player_hosts": hosts,
        "crumbs": [papers_crumb(edition)],
    }
    response = render(request, "papers/detail.html", context)
    if hosts:
        policy: dict[str, Any] = {**settings.SECURE_CSP, "frame-src": [f"https://{host}" for host in hosts]}
        response.headers[str(CSP.HEADER_ENFORCE)] = build_policy(policy)
        response.headers["Permissions-Policy"] = permissions_with_players(hosts)
    return response


def former_paper_page(request: HttpRequest, edition: Edition, uid: str) -> HttpResponse:
    """Return a 410 page about a paper that was public, because it may have been cited."""
    tombstone = find_tombstone(Paper, edition.slug, uid, timezone.now())
    if tombstone is None or not tombstone.is_told:
        raise Http404
    # Empty after a person's data were erased.
    title = tombstone.title
    # A deleted paper has no authors. Those that changed since it was public are not shown.
    rows = Authorship.objects.filter(
        paper__edition=edition, paper__uid=uid, changed_at__lte=tombstone.gone_at
    )
    authors = with_shown_names(rows)
    context = {
        "title": markup.plain(title or uid),
        "title_html": markup.inline(title) if title else escape(uid),
        "has_title": bool(title),
        "authors": [author.shown_name for author in authors.order_by("position")],
        "is_withdrawn": tombstone.reason == Tombstone.Reason.WITHDRAWN,
        "crumbs": [papers_crumb(edition)],
    }
    return render(request, "papers/former.html", context, status=HTTPStatus.GONE)


@edition_page
def paper_card(request: HttpRequest, edition: Edition, uid: str) -> HttpResponse:
    paper: Paper = get_object_or_404(edition.papers.published().with_authors(), uid=uid)
    return card_response(
        request,
        edition,
        Picture(paper.track, str(paper), byline_text(paper), edition_line(edition), edition.accent),
    )


@edition_page
def award_list(request: HttpRequest, edition: Edition) -> HttpResponse:
    return render(request, "papers/awards.html", {"awards": edition.awards.published().with_winners()})


@edition_page
def statistics_page(request: HttpRequest, edition: Edition) -> HttpResponse:
    return render(request, "papers/statistics.html", {"charts": statistics(edition)})


@require_safe
def all_awards(request: HttpRequest) -> HttpResponse:
    awards = Award.objects.published().newest_first().with_winners()
    return render(request, "papers/all_awards.html", {"years": awards.grouped("edition")})
