"""The page cache in front of Django, the invalidation of its entries, and the cache of rendered sessions."""
