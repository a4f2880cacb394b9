"""How the site fares: the note of each request, the log, the metrics, whether it is ready for visitors."""
