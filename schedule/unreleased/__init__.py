"""Unreleased changes of an edition: their model, releases, and conflicts with what became public since.

Reading and writing them is below all apps, in `content.unreleased`. Reasons: docs/decisions/0034.
"""
