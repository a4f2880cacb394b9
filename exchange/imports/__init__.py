"""From records to rows: what stands here, who is who, what changes, what is wrong, and the writing of it."""
