"""The sections of an edition's home page, which chairs can reorder and hide."""

from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

# Names in files and labels, in the default order.
HOME_SECTIONS: "dict[str, StrPromise]" = {
    "now": _("On now and next"),
    "about": _("Description"),
    "program": _("Program"),
    "speakers": _("Invited speakers"),
    "topics": _("Topics"),
    "awards": _("Awards"),
    "news": _("News"),
    "dates": _("Key dates"),
    "venue": _("Venue"),
    "sponsors": _("Sponsors"),
}
# Do not translate the names in this text.
HELP: "StrPromise" = _(
    "One per line, in order; what you leave out isn't shown. Empty: all, in the usual order: "
    "now, about, program, speakers, topics, awards, news, dates, venue, sponsors"
)


def validate_home_sections(names: list[str]) -> None:
    unknown = [name for name in names if name not in HOME_SECTIONS]
    if unknown:
        raise ValidationError(
            _("“%(name)s” is not a section. Use: %(names)s."),
            params={"name": unknown[0], "names": ", ".join(HOME_SECTIONS)},
        )
    if len({*names}) < len(names):
        raise ValidationError(_("List each section once."))
