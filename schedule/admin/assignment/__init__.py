"""The page that puts papers into sessions."""
