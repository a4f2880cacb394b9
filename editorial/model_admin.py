"""Base classes of the admin's lists and forms: the edition's zone, fixed keys, choices, search, order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, cast

from django import forms
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.options import Action
from django.contrib.admin.utils import unquote
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from accounts.access_scope import current_access
from content import revision
from content.editions import get_edition_model
from content.fields import validate_accent, validate_timezone
from content.history import Origin
from content.history.recording import recording, single_change_set
from content.models import Ordered
from content.ordering import move_to, position_sort_key, reorder
from content.request_keys import parse_key
from content.times import validate_year
from content.unreleased.plan import planned, waiting_editions
from content.unreleased.rows import Releasable
from content.unreleased.timing import StatusTiming, status_timing
from editorial.access import ScopedAdmin, ScopedChoices, ScopedInline, access_for
from editorial.colors import ColorField
from editorial.current_edition import (
    LIST_FILTER,
    edition_of,
    get_working_edition,
    requested_edition,
    working_on,
)
from editorial.failed_saves import FailedSaveAdmin, failure_of
from editorial.folded_parts import prepare_folded
from editorial.form_fields import (
    EditionSelect,
    EditionWrapper,
    KnownChoiceField,
    ZonedField,
    ZonedWidget,
)
from editorial.forms import ContentForm, OrderedFormSet, PartForm, PartFormSet, mark_lost_files
from editorial.history_views import HistoryAdmin, may_release
from editorial.lists import ContentList, ExportAdmin, search_rows
from editorial.part_pages import ShownParts, shown_parts
from editorial.sections import DeskSection
from editorial.stale_forms import StaleAdmin
from editorial.text_help import TextHelpAdmin, add_text_help
from editorial.zones import ZoneNameField, offered_zones

if TYPE_CHECKING:
    from django.db.models import ForeignKey
    from django.forms import ModelChoiceField

    from conference.models import Edition


# Fields that would reveal private data if everyone could search them.
PRIVATE_SEARCH_FIELDS = ("names__folded", "email")
# Validators, and the form field for model fields that have them.
CHECKED_FIELDS = ((validate_timezone, ZoneNameField), (validate_accent, ColorField))
ZONE_HELP = _("All times on this form are in the time zone of the edition chosen here.")


def has_field(model: type[models.Model], name: str) -> bool:
    try:
        model._meta.get_field(name)
    except FieldDoesNotExist:
        return False
    return True


def link_or_name(row: models.Model) -> SafeString | str:
    """Return a link to the row's form, or its name if the account may not see the row."""
    access = current_access()
    return admin_link(row) if access is None or access.may("view", type(row), row) else str(row)


def is_public(row: models.Model) -> bool:
    """Return whether visitors may see the row now. One query."""
    manager: Any = type(row)._default_manager
    return bool(manager.published().filter(pk=row.pk).exists())


def admin_link(row: models.Model) -> SafeString:
    address = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
    return format_html('<a href="{}">{}</a>', address, row)


class Fields[M: Model = Model](ScopedChoices[M]):
    """Form fields and widgets of model fields, for forms and inlines."""

    formfield_overrides = {
        models.DateField: {"validators": [validate_year]},
        models.DateTimeField: {"form_class": ZonedField, "widget": ZonedWidget},
    }
    short_texts: ClassVar[frozenset[str]] = frozenset()

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[object, object], request: HttpRequest, **kwargs: object
    ) -> ModelChoiceField[Model] | None:
        target = db_field.remote_field.model
        if db_field.name in self.get_autocomplete_fields(request):
            select = EditionSelect(db_field, self.admin_site)
            select.is_limited = has_field(target, "edition") and db_field.name not in self.any_edition
            select.has_names = has_field(target, "name")
            target_admin = (
                self.admin_site.get_model_admin(target) if self.admin_site.is_registered(target) else None
            )
            label = getattr(target_admin, "choice_label", str)
            kwargs = {"widget": select, "form_class": KnownChoiceField, "choice_label": label, **kwargs}
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def formfield_for_dbfield(
        self, db_field: models.Field[object, object], request: HttpRequest, **kwargs: object
    ) -> forms.Field | None:
        for validator, form_class in CHECKED_FIELDS:
            if validator in db_field.validators:
                kwargs = {"form_class": form_class, "widget": form_class.widget, **kwargs}
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if isinstance(field, forms.FileField):
            field.widget.attrs = {**field.widget.attrs, "aria-label": field.label}
        elif field and db_field.name in self.short_texts:
            field.widget.attrs = {**field.widget.attrs, "rows": 2}
        elif field and isinstance(field.widget, RelatedFieldWidgetWrapper):
            field.widget = EditionWrapper.from_wrapper(field.widget)
        if field:
            add_text_help(field, db_field)
        return field


class EditionRowAdmin[M: Model = Any](Fields[M], FailedSaveAdmin[M], ScopedAdmin[M]):
    """Admin of rows of an edition. Forms use the edition's time zone, and offer its rows as choices."""

    form = ContentForm
    show_full_result_count = False
    list_per_page = 50
    # Section and position on the admin's first page and in the sidebar.
    desk_section: ClassVar[str] = DeskSection.TECHNICAL
    desk_order: ClassVar[int] = 50

    class Media:
        js = ["js/admin-choices.js", "js/admin-part-pages.js"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[M], search_term: str
    ) -> tuple[QuerySet[M], bool]:
        if request.resolver_match and request.resolver_match.url_name == "autocomplete":
            queryset = self.choices_for_edition(queryset, parse_key(request.GET.get("edition")))
        return search_rows(queryset, self.get_search_fields(request), search_term), False

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        """Search former names and e-mail addresses only for users who may read private fields."""
        fields = [*super().get_search_fields(request)]
        if access_for(request).may("private", apps.get_model("people", "Person")):
            return fields
        return [field for field in fields if not field.endswith(PRIVATE_SEARCH_FIELDS)]

    def get_list_display(self, request: HttpRequest) -> list[str | Callable[[M], str | bool]]:
        """Omit the column of the edition from the list of one edition."""
        columns = [*super().get_list_display(request)]
        is_narrowed = parse_key(request.GET.get(LIST_FILTER))
        return [column for column in columns if column != "edition"] if is_narrowed else columns

    def choices_for_edition(self, rows: QuerySet[M], edition: int) -> QuerySet[M]:
        """Return the rows that a choice offers; `edition` is the key of the form's edition, or 0."""
        if not edition or not has_field(self.model, "edition"):
            return rows
        site_wide = Q(edition__isnull=True) if self.model._meta.get_field("edition").null else Q()
        return rows.filter(Q(edition=edition) | site_wide)

    def get_readonly_fields(self, request: HttpRequest, obj: M | None = None) -> list[str]:
        fixed = [name for name in ("edition", "uid", "slug") if obj and has_field(self.model, name)]
        return [*super().get_readonly_fields(request, obj), *fixed]

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        initial: dict[str, Any] = super().get_changeform_initial_data(request)
        edition = get_working_edition()
        if edition and has_field(self.model, "edition"):
            initial.setdefault("edition", edition.pk)
        return initial

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[object, object], request: HttpRequest, **kwargs: object
    ) -> ModelChoiceField[Model] | None:
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        if field and db_field.name == "edition" and self.has_times():
            field.help_text = field.help_text or ZONE_HELP
        return field

    def has_times(self) -> bool:
        form_models = [self.model, *(inline.model for inline in self.inlines)]
        return any(
            isinstance(field, models.DateTimeField) and field.editable
            for model in form_models
            for field in model._meta.fields
        )

    def edition_for_form(self, request: HttpRequest, object_id: str | None) -> Edition | None:
        """Return the edition in whose zone the form's times are shown and read."""
        if object_id is None:
            return requested_edition(request)
        row = self.get_object(request, unquote(object_id))
        return edition_of(row) if row else None

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> M | None:
        """Return the row of a page, cached on the request. A POST fetches it again, after locking it."""
        if request.method == "POST":
            return super().get_object(request, object_id, from_field)
        cached: dict[object, M | None] = vars(request).setdefault("rows_of_page", {})
        key = self.model, object_id, from_field
        if key not in cached:
            cached[key] = super().get_object(request, object_id, from_field)
        return cached[key]

    def open_form(
        self, request: HttpRequest, object_id: str | None, form_url: str, extra: dict[str, object] | None
    ) -> HttpResponse:
        edition = self.edition_for_form(request, object_id)
        with working_on(edition), self.planned_state(request, edition):
            return render_response(self.form_page(request, object_id, form_url, extra))

    @contextmanager
    def planned_state(self, request: HttpRequest, edition: Edition | None) -> Iterator[None]:
        """Show rows of the form as they will be after the next release, if their changes wait for it."""
        if edition is None or not edition.pk or not issubclass(self.model, Releasable):
            yield
            return
        with planned(edition, for_edits=request.method == "POST") as plan:
            if plan is not None:
                vars(request).pop("rows_of_page", None)
            with status_timing(self.chosen_timing(request, edition)):
                yield

    def chosen_timing(self, request: HttpRequest, edition: Edition) -> StatusTiming:
        """Return when new statuses take effect; offer the choice to those who may release the edition."""
        timings = [*StatusTiming] if may_release(request, edition) and waiting_editions([edition.pk]) else []
        vars(request)["status_timings"] = timings
        chosen = request.POST.get("_status_timing")
        return next((timing for timing in timings if timing == chosen), StatusTiming.USUAL)

    def form_page(
        self, request: HttpRequest, object_id: str | None, form_url: str, extra: dict[str, object] | None
    ) -> HttpResponse:
        """Show or save the form. Called with its edition as the working edition."""
        return super().open_form(request, object_id, form_url, extra)


class ContentAdmin[M: Model = Any](
    EditionRowAdmin[M], TextHelpAdmin[M], ExportAdmin[M], HistoryAdmin[M], StaleAdmin[M]
):
    """Admin of a model of the program, with history, stale-form protection, exports and text help."""

    delete_confirmation_max_display = 200
    # Functions by field, which return the texts of an edition that an input suggests.
    offered_texts: ClassVar[dict[str, Callable[[Any], list[str]]]] = {}
    # Relations that labels of rows need.
    choice_related: ClassVar[tuple[str, ...]] = ()

    def choice_label(self, row: M) -> str:
        """Return a label that distinguishes rows with the same name."""
        return str(row)

    def for_list(self, rows: QuerySet[M]) -> QuerySet[M]:
        """Add the data that the columns of the list show."""
        return rows

    def get_changelist(self, request: HttpRequest, **kwargs: object) -> type[ContentList]:
        return ContentList

    def get_queryset(self, request: HttpRequest) -> QuerySet[M]:
        rows = super().get_queryset(request)
        return rows.select_related(*self.choice_related) if self.choice_related else rows

    # Forms

    def get_prepopulated_fields(self, request: HttpRequest, obj: M | None = None) -> dict[str, Sequence[str]]:
        return {} if obj else super().get_prepopulated_fields(request, obj)

    def formfield_for_dbfield(
        self, db_field: models.Field[object, object], request: HttpRequest, **kwargs: object
    ) -> forms.Field | None:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field and db_field.name in self.offered_texts:
            field.widget.attrs["list"] = f"offered-{db_field.name}"
        return field

    def get_formset_kwargs(self, request: HttpRequest, obj: M, inline: Any, prefix: str) -> dict[str, Any]:
        """Limit an inline to the rows of its page."""
        kwargs: dict[str, Any] = super().get_formset_kwargs(request, obj, inline, prefix)
        if obj.pk and isinstance(inline, PartInline):
            kwargs["shown"] = inline.shown_parts(request, prefix, obj, kwargs["queryset"])
        return kwargs

    def form_page(
        self, request: HttpRequest, object_id: str | None, form_url: str, extra: dict[str, object] | None
    ) -> HttpResponse:
        with as_one_change_set(request):
            conflict_page = None
            if object_id and not failure_of(request):
                conflict_page = self.refuse_stale_form(request, object_id)
            return conflict_page or super().form_page(request, object_id, form_url, extra)

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: M | None = None,
    ) -> HttpResponse:
        if request.FILES:
            inline_forms = (
                form for inline in context["inline_admin_formsets"] for form in inline.formset.forms
            )
            mark_lost_files([context["adminform"].form, *inline_forms], request.FILES)
        if any(isinstance(field, ZoneNameField) for field in context["adminform"].form.fields.values()):
            context["zones"] = offered_zones()
        if self.offered_texts and (edition := get_working_edition()) and edition.pk:
            context["offered"] = {name: get_texts(edition) for name, get_texts in self.offered_texts.items()}
        prepare_folded(context["adminform"])
        if self.has_texts():
            context["text_help_url"] = reverse("admin:text_help")
        if obj is not None and self.has_change_permission(request, obj):
            context["signed_marks"] = self.carried_marks(request, obj)
        if obj is not None and hasattr(obj, "get_absolute_url"):
            self.add_page_links(request, context, obj)
        context["hides_history"] = obj is not None and not self.may_see_history(request, obj)
        return super().render_change_form(request, context, add, change, form_url, obj)

    def add_page_links(self, request: HttpRequest, context: dict[str, Any], row: Any) -> None:
        """Add the preview of a row. Without one, hide the link to its public page unless it is public."""
        edition = edition_of(row)
        if edition and access_for(request).may("preview", get_edition_model(), edition):
            context["preview_url"] = edition.get_preview_url(row.get_absolute_url())
        else:
            context["hides_parts_on_site"] = True
            context["hides_public_page"] = not is_public(row)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        with as_one_change_set(request):
            return super().delete_view(request, object_id, extra_context)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        context = {"deleted_address": self.page_address("deleted"), **(extra_context or {})}
        with as_one_change_set(request):
            conflict_page = self.refuse_stale_list(request)
            response = conflict_page or super().changelist_view(request, context)
            self.finish_list_save(request)
            return response

    def run_action(
        self, request: HttpRequest, action: Action, chosen: QuerySet[M]
    ) -> HttpResponseBase | None:
        """Record the changes of an action in the history under its name."""
        with recording(Origin.ACTION, request.user, action.name) as log, self.planned_rows(request, chosen):
            response = super().run_action(request, action, chosen)
            log.write()
        return response

    @contextmanager
    def planned_rows(self, request: HttpRequest, rows: QuerySet[M]) -> Iterator[None]:
        """Let an action read and change the planned state of rows of one edition."""
        edition_keys: list[int] = []
        if issubclass(self.model, Releasable):
            lookup = self.model.edition_lookup  # type: ignore[attr-defined]
            edition_keys = [*rows.order_by().values_list(lookup, flat=True).distinct()[:2]]
        edition = (
            get_edition_model()._base_manager.get(pk=edition_keys[0]) if len(edition_keys) == 1 else None
        )
        with self.planned_state(request, edition):
            yield

    def finish_list_save(self, request: HttpRequest) -> None:
        """Hook that is called after all rows of a list were saved."""


@contextmanager
def as_one_change_set(request: HttpRequest) -> Iterator[None]:
    """Record all changes of a POST as one change set and one new revision."""
    if request.method != "POST":
        yield
        return
    with single_change_set(), revision.lock():
        yield


def render_response[R: HttpResponseBase](response: R) -> R:
    """Render a response or read its stream immediately, while a time zone or the planned state is active."""
    if isinstance(response, StreamingHttpResponse):
        response.streaming_content = [*response]
    elif isinstance(response, TemplateResponse):
        response.render()
    return response


POSITION = "position"
# The request attribute with the positions entered in a list, by row.
ENTERED_POSITIONS = "_entered_positions"


class OrderedAdmin[M: Model = Any](ContentAdmin[M]):
    """Admin of ordered rows. The number entered in a form or a list is the new position of the row."""

    class Media:
        js = ["js/admin-places.js"]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        response = super().changelist_view(request, extra_context)
        if self.is_in_order(response):
            cast(TemplateResponse, response).context_data["is_sortable"] = True  # type: ignore[index]
        return response

    def save_model(self, request: HttpRequest, obj: M, form: forms.ModelForm[M], change: bool) -> None:
        position = form.cleaned_data.get(POSITION) or 0
        if form.prefix is not None:
            self._save_without_position(request, obj, form, position)
            return
        super().save_model(request, obj, form, change)
        if POSITION in form.changed_data and isinstance(obj, Ordered):
            move_to(obj, position)

    # In lists

    def _save_without_position(
        self, request: HttpRequest, obj: M, form: forms.ModelForm[M], position: int
    ) -> None:
        """Save a row of a list without its position, which is set when those of all rows are known."""
        setattr(obj, POSITION, form.initial[POSITION])
        if {*form.changed_data} != {POSITION}:
            super().save_model(request, obj, form, True)
        if POSITION in form.changed_data:
            vars(request).setdefault(ENTERED_POSITIONS, {})[obj] = position

    def finish_list_save(self, request: HttpRequest) -> None:
        """Reorder the rows whose positions were changed in a list, once for each owner."""
        entered: dict[Ordered, int] = vars(request).pop(ENTERED_POSITIONS, {})
        row_by_owner = {getattr(row, f"{row.siblings_of}_id"): row for row in entered}
        entered_by_key = {row.pk: position for row, position in entered.items()}
        for row in row_by_owner.values():
            positions = row.siblings().values_list("pk", POSITION)
            keys = sorted(
                (*position_sort_key(entered_by_key.get(key, position), position), position, key)
                for key, position in positions
            )
            order = [key for *_, key in keys]
            reorder(self.model._default_manager.filter(pk__in=order), order)

    def is_in_order(self, response: HttpResponse) -> bool:
        """Return whether a list shows rows of one owner by position, so that they can be dragged."""
        context = response.context_data if isinstance(response, TemplateResponse) else None
        changelist = context.get("cl") if context else None
        if changelist is None or POSITION not in self.list_editable or not changelist.formset:
            return False
        ordering = next(iter(changelist.get_ordering_field_columns().items()), None)
        owners = {getattr(row, f"{row.siblings_of}_id") for row in changelist.result_list}
        return len(owners) == 1 and ordering == (changelist.list_display.index(POSITION), "asc")


class PartInline[M: Model = Any, Owner: Model = Any](
    Fields[M], ScopedInline[M, Owner], admin.TabularInline[M, Owner]
):
    form = PartForm
    formset = PartFormSet
    extra = 0
    # The number of empty rows on the form of a new owner.
    first_rows: ClassVar[int] = 0
    # Whether the inline is shown after the first fieldset instead of the last.
    comes_early: ClassVar[bool] = False
    # Whether stored rows have no extra line with name and links above their inputs.
    is_compact: ClassVar[bool] = False
    # More rows are shown in pages.
    rows_per_page: ClassVar[int] = 100
    show_change_link = True
    list_select_related: ClassVar[tuple[str, ...]] = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[M]:
        return super().get_queryset(request).select_related(*self.list_select_related, self.owner())

    def shown_parts(self, request: HttpRequest, prefix: str, owner: Owner, rows: Any) -> ShownParts:
        """Return those of `rows` of `owner` that the form of a request shows or saves."""
        return shown_parts(request, prefix, rows.parts_of(self.owner(), owner), self.rows_per_page)

    def get_extra(self, request: HttpRequest, obj: Owner | None = None, **kwargs: Any) -> int:
        return self.extra if obj else self.first_rows

    def owner(self) -> str:
        fields, owner = self.model._meta.fields, self.parent_model
        names = (field.name for field in fields if field.remote_field and field.remote_field.model is owner)
        return self.fk_name or next(names)


class OrderedInline[M: Model = Any, Owner: Model = Any](PartInline[M, Owner]):
    """Inline of ordered rows; the number is the first field."""

    formset = OrderedFormSet
    is_sortable = True

    class Media:
        js = ["js/admin-places.js"]
