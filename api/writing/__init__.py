"""Writing over REST: `writable` declares, `bodies` reads, `rows` writes, `responses` answers."""
