"""Writing over REST: `bodies` parses requests, `rows` writes them, `responses` builds the responses."""
