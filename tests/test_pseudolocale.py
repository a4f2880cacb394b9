"""The pseudolocale finds texts that bypass gettext, and has no effect afterwards."""

from django.template import Context, Template
from django.utils.translation import gettext, gettext_lazy, ngettext, npgettext, pgettext

from tests.pseudolocale import pseudolocale, text_outside_brackets, untranslated

LAZY = gettext_lazy("Save")


def test_every_kind_of_message_is_in_brackets() -> None:
    with pseudolocale():
        assert [str(LAZY), gettext("Room"), pgettext("verb", "Star")] == ["⟦Save⟧", "⟦Room⟧", "⟦Star⟧"]
        assert [ngettext("%d day", "%d days", n) % n for n in (1, 2)] == ["⟦1 day⟧", "⟦2 days⟧"]
        assert npgettext("noun", "star", "stars", 2) == "⟦stars⟧"
    assert str(LAZY) == "Save"


def test_untranslated_texts_of_a_page_are_found() -> None:
    source = (
        "{% load i18n %}<h1>{% translate 'Papers' %}: {{ title }}</h1><p>Bare words</p><img alt='A picture'>"
        "{% blocktranslate %}See <a href='/'>all</a> papers{% endblocktranslate %}"
        "<code>raw</code><p>12 – 3</p>"
    )
    with pseudolocale():
        page = Template(source).render(Context({"title": "On Trees"}))
    assert untranslated(page, known=["On Trees"]) == ["Bare words", "A picture"]
    assert text_outside_brackets("⟦a ⟦b⟧ c⟧ and d") == "and d"
