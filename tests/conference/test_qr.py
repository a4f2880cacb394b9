"""QR codes: drawn by the server, labeled for screen readers, without inline styles."""

from django.template import engines

from tests.html_pages import Page


def render(source: str, **context: str) -> str:
    return engines["django"].from_string("{% load program %}" + source).render(context)


def test_qr_code_has_a_label_and_no_inline_style() -> None:
    markup = render("{% qr url %}", url="https://example.org/2021/rooms/hall-a/")
    svg = Page(markup).all("svg", "qr", role="img")

    assert [tag.attributes["aria-label"] for tag in svg] == ["QR code of this page's address"]
    assert "style" not in markup
    assert markup.count("<path") == 2


def test_qr_code_depends_on_the_address() -> None:
    assert render("{% qr url %}", url="https://example.org/a") != render(
        "{% qr url %}", url="https://example.org/b"
    )


def test_qr_code_label_is_escaped() -> None:
    markup = render('{% qr "https://example.org" label %}', label='"><script>')

    assert "<script>" not in markup
    assert Page(markup).all("svg")[0].attributes["aria-label"] == '"><script>'
