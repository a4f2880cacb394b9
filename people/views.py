"""Views of people, institutions and committees."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from conference.models import Edition
from conference.request_edition import edition_page, shows_planned_state
from content.pagination import BadParameter, base_query, paginate
from people.models import Institution, Person
from people.profile import co_authors, index_entries, next_meetings, person_head, profile
from people.querysets import InstitutionQuerySet, PersonQuerySet

PAGE_SIZE = 100
PAPERS_SIZE = 50


@require_safe
def person_list(request: HttpRequest) -> HttpResponse:
    """Show the people of all years by family name, or those of one letter."""
    people, letters, total = filter_by_letter(request, Person.objects.published())
    page = paginate(request, people.by_letter().with_editions(), PAGE_SIZE, total)
    return render(
        request, "people/list.html", {**letters, "page": page, "entries": index_entries(page.object_list)}
    )


def filter_by_letter[R: (PersonQuerySet, InstitutionQuerySet)](
    request: HttpRequest, rows: R
) -> tuple[R, dict[str, object], int]:
    """Return the rows of the requested letter, the context of the letters, and the number of rows."""
    letters, letter = rows.initials(), request.GET.get("letter", "")
    if letter and letter not in letters:
        raise BadParameter("letter", letter, gettext("Choose a capital letter from A to Z, or #."))
    letter_rows = rows.beginning_with(letter) if letter else rows
    context: dict[str, object] = {
        "letters": letters,
        "letter": letter,
        "base_query": base_query({"letter": letter, "edition": request.GET.get("edition", "")}),
    }
    return letter_rows, context, letters[letter] if letter else sum(letters.values())


def redirect_to_current(request: HttpRequest, row: Person | Institution) -> HttpResponse:
    """Redirect to the current address, with the parameter `edition` of the request."""
    edition = request.GET.get("edition")
    query = f"?{urlencode({'edition': edition})}" if edition else ""
    return redirect(f"{row.get_absolute_url()}{query}", permanent=True)


@require_safe
@shows_planned_state
def person_detail(request: HttpRequest, uid: str, slug: str = "") -> HttpResponse:
    """Show a person's contributions of all years. Redirect if the person was merged."""
    published = Person.objects.published().with_profile()
    person = published.filter(uid=uid).first() or Person.objects.survivor(uid)
    if person is None:
        raise Http404("No such person.")
    if request.path != person.get_absolute_url():
        return redirect_to_current(request, person)
    years = profile(person)
    context = {
        "person": person,
        "years": years,
        "papers": sum(len(year.papers) for year in years),
        "meetings": next_meetings(years, timezone.now()),
        "co_authors": co_authors(person, years),
        "crumbs": [(gettext("People"), reverse("people:list"))],
        "head": person_head(person),
    }
    return render(request, "people/detail.html", context)


@require_safe
def institution_list(request: HttpRequest) -> HttpResponse:
    """Show the institutions of all years by name, or those of one letter."""
    institutions, letters, total = filter_by_letter(request, Institution.objects.published())
    page = paginate(request, institutions.by_letter().with_counts(), PAGE_SIZE, total)
    return render(request, "people/institutions.html", {**letters, "page": page})


@require_safe
def institution_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the papers of an institution by year, or their authors. Redirect if it was merged."""
    institution = Institution.objects.published().filter(slug=slug).first()
    if institution is None:
        survivor = Institution.objects.survivor(slug)
        if survivor is None:
            raise Http404("No such institution.")
        return redirect_to_current(request, survivor)
    show = request.GET.get("show", "")
    if show not in {"", "people"}:
        raise BadParameter("show", show, gettext("Use “people”, or leave it out."))
    page = paginate(
        request, institution.people() if show else institution.papers(), PAGE_SIZE if show else PAPERS_SIZE
    )
    if not show:
        papers: Any = page.object_list
        page.object_list = papers.list_rows()
    context = {
        "institution": institution,
        "show": show,
        "page": page,
        "years": institution.editions(),
        "base_query": base_query({"show": show, "edition": request.GET.get("edition", "")}),
        "crumbs": [(gettext("Institutions"), reverse("people:institutions"))],
    }
    return render(request, "people/institution.html", context)


@edition_page
def committee(request: HttpRequest, edition: Edition) -> HttpResponse:
    """Show the committee of an edition by role."""
    offices = edition.committee_roles.published().select_related("person").grouped("role")
    return render(request, "people/committee.html", {"offices": offices})
