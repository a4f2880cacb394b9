"""The common base of the program's models: revisions, history, and the invalidation of cache tags."""
