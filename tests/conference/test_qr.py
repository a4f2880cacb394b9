"""QR codes: drawn by the server, labeled for screen readers, without inline styles."""

from django.template import engines

from tests.reading import Page


def drawn(source: str, **context: str) -> str:
    return engines["django"].from_string("{% load program %}" + source).render(context)


def test_qr_is_a_named_drawing_without_inline_style() -> None:
    markup = drawn("{% qr url %}", url="https://example.org/2021/rooms/hall-a/")
    svg = Page(markup).all("svg", "qr", role="img")

    assert [one.attributes["aria-label"] for one in svg] == ["QR code of this page's address"]
    assert "style" not in markup
    assert markup.count("<path") == 2


def test_qr_of_another_address_is_another_drawing() -> None:
    assert drawn("{% qr url %}", url="https://example.org/a") != drawn(
        "{% qr url %}", url="https://example.org/b"
    )


def test_qr_label_is_escaped() -> None:
    markup = drawn('{% qr "https://example.org" label %}', label='"><script>')

    assert "<script>" not in markup
    assert Page(markup).all("svg")[0].attributes["aria-label"] == '"><script>'
