"""Notices about sessions: the change that a chair announces during the conference, and its banner."""
