"""The whole installation as one file: rows, uploaded files, the list of settings; out, and into any database.

An archive is a ZIP: `manifest.json` (what is in it, with counts and checksums), `rows/<model>.jsonl` (a row a
line), `media/…`. It names no database engine: whatever made it, SQLite and PostgreSQL take it.
"""
