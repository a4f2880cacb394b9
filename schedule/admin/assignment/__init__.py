"""Papers without a session, and sessions with how full they are: planned side by side, saved together."""
