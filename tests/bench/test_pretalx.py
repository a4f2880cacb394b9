"""Tests of the benchmark beside pretalx, where pretalx is not installed."""

from pathlib import Path

import pytest

from bench.pretalx.__main__ import main


def test_missing_pretalx_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["bench.pretalx", "--environment", str(tmp_path / "none")])
    main()

    assert "pretalx isn't installed" in capsys.readouterr().out
