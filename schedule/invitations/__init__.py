"""People who are asked to take part in the program: invitations, letters, the page on which they answer, and
the times at which they are not available."""
