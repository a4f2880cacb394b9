"""Utilities for readers: text, JSON, CSV and typed fields from bytes. Imports no app and no format."""
