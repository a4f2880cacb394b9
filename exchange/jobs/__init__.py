"""Imports in the admin: uploads, previews, conflicts, permissions, and the tasks that work on them."""
