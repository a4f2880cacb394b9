"""`<conference>-<year>-orals-posters.json`: the public export that many tools read, with its abstracts.

Only papers' orals, posters and spotlights are in it.
"""

from django.utils.translation import gettext_lazy as _

from exchange.files import Format
from exchange.formats.orals_posters.output import write
from exchange.formats.orals_posters.records import read, recognizes

FORMAT = Format(
    name="orals_posters",
    label=_("Orals and posters (JSON)"),
    description=_("The orals-posters.json of conference sites, with its abstracts: papers and appearances."),
    extensions=("json",),
    media_type="application/json",
    read=read,
    write=write,
    recognizes=recognizes,
)
