"""Invitations to take part in the program: models, letters, the page for responses, and the times at which
people are not available."""
