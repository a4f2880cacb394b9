"""Imports in the admin: uploads, previews, conflicts, permissions, and background tasks."""
