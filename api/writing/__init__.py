"""Writing over REST: what may be written, bodies read, rows changed under a lock, answers with warnings."""
