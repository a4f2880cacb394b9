"""What the search index holds of each model, and how it is updated."""
