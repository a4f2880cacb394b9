"""Exports: records of published rows, downloads, calendars, citations."""
