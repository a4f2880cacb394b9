"""The pages of people and committees."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from conference.addressed import edition_page
from conference.models import Edition
from conference.paging import BadParameter, base_query, page_of
from people.models import Person
from people.vita import entries, vita

PAGE_SIZE = 100


@require_safe
def person_list(request: HttpRequest) -> HttpResponse:
    """Show the people of all years by family name, or those of one letter."""
    people = Person.objects.published()
    letters = people.initials()
    letter = request.GET.get("letter", "")
    if letter and letter not in letters:
        raise BadParameter("letter", letter, "Give a capital from A to Z, or #.")
    shown = people.beginning_with(letter) if letter else people
    page = page_of(request, shown.order_by("sort_key", "uid").with_editions(), PAGE_SIZE)
    context = {
        "letters": letters,
        "letter": letter,
        "page": page,
        "entries": entries(page.object_list),
        "base_query": base_query({"letter": letter}),
    }
    return render(request, "people/list.html", context)


@require_safe
def person_detail(request: HttpRequest, uid: str, slug: str = "") -> HttpResponse:
    """Show what a person did in all years; a merged person's address leads to the one that remained."""
    person = Person.objects.published().with_vita().filter(uid=uid).first()
    found = person or Person.objects.survivor(uid)
    if found is None:
        raise Http404("No such person.")
    if request.path != found.get_absolute_url():
        return redirect(found, permanent=True)
    crumbs = [("People", reverse("people:list"))]
    return render(request, "people/detail.html", {"person": found, "years": vita(found), "crumbs": crumbs})


@edition_page
def committee(request: HttpRequest, edition: Edition) -> HttpResponse:
    """Show the committee of an edition by office."""
    offices = edition.committee_roles.published().with_person().grouped("role")
    return render(request, "people/committee.html", {"offices": offices})
