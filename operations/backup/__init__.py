"""Backup and restore of the whole installation as one file: rows, uploaded files, the list of settings.

An archive is a ZIP with `manifest.json` (contents, counts and checksums), `rows/<model>.jsonl` (one row per
line) and `media/…`. It can be restored to SQLite and PostgreSQL, whichever it was made from.
"""
