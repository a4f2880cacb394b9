"""Tests of the exponents of growth that the benchmark reports."""

import pytest

from bench.growth import Figure, report_growth
from bench.harness import growth_exponent


def test_growth_exponent() -> None:
    assert growth_exponent({600: 3, 6_000: 30}) == pytest.approx(1)
    assert growth_exponent({60_000: 3, 6_000: 3}) == pytest.approx(0)
    assert growth_exponent({600: 30, 6_000: 30, 60_000: 30 * 10**0.5}) == pytest.approx(0.5)


def test_growth_counts_in_reference_loops(capsys: pytest.CaptureFixture[str]) -> None:
    """A page that takes twice the time when the machine is half as fast does not grow."""
    pages = {600: {"paper": Figure(40, 12, 30)}, 6_000: {"paper": Figure(80, 12, 60)}}
    report_growth("papers", pages)

    assert "| paper | 40 (12; 30) | 80 (12; 60) | 0.00 |" in capsys.readouterr().out


def test_large_growth_misses_its_budget(capsys: pytest.CaptureFixture[str]) -> None:
    report_growth("editions", {1: {"desk": Figure(40, 12, 30)}, 20: {"desk": Figure(800, 12, 30)}})

    assert "| desk | 40 (12; 30) | 800 (12; 30) | 1.00 MISSED |" in capsys.readouterr().out


def test_one_size_has_no_exponent(capsys: pytest.CaptureFixture[str]) -> None:
    report_growth("papers", {600: {"paper": Figure(40, 12, 30)}})

    assert "| paper | 40 (12; 30) |  |" in capsys.readouterr().out
