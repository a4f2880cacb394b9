"""When rows of public models were created and last changed.

`dated` has the columns and the declarations of what moves them, `stamping` writes them, `reading` adds what
becomes public by time, and `cursor` says up to which moment a reader has seen all changes.
"""
