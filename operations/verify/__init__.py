"""Everything that must hold in the data, one check for each invariant: what it finds, and what mends it.

The database's own constraints hold by themselves; this is for what they cannot say, and for databases that
other hands have changed. `manage.py verify` asks all of them.
"""
