"""Dates as 2026-03-28: chairs come from countries that read 03/04 in two ways. A time names its zone."""

DATETIME_FORMAT = "j F Y, H:i T"
DATE_INPUT_FORMATS = ["%Y-%m-%d", "%d/%m/%Y"]
TIME_INPUT_FORMATS = ["%H:%M", "%H:%M:%S", "%H:%M:%S.%f"]
DATETIME_INPUT_FORMATS = ["%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f"]
