"""The page cache in front of Django, how its entries become invalid, and the cache of template fragments."""
