"""Accounts of the site's staff: their roles in editions, and the sessions in which they are signed in."""

from accounts.memberships import Membership
from accounts.sessions import AccountSession

__all__ = ["AccountSession", "Membership"]
