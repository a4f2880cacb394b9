"""What every model of the program shares: revisions, and the cache tags that a change invalidates."""
