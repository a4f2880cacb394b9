"""What is public, and what is no longer: the rules of models, tombstones, and the watch that writes them."""
