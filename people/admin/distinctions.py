"""What chairs said are not the same, in the admin."""

from django.contrib import admin

from editorial.model_admin import ContentAdmin
from people.models import InstitutionDistinction, PersonDistinction


class DistinctionAdmin(ContentAdmin):
    """Pairs that are not the same; to delete one lets it be suggested again."""

    list_display = ["__str__"]
    list_select_related = ["first", "second"]
    search_fields = ["first__folded", "second__folded"]
    autocomplete_fields = ["first", "second"]
    fields = ["first", "second"]


@admin.register(PersonDistinction)
class PersonDistinctionAdmin(DistinctionAdmin):
    desk_order = 60


@admin.register(InstitutionDistinction)
class InstitutionDistinctionAdmin(DistinctionAdmin):
    desk_order = 61
