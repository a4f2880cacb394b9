"""Accounts of the site's staff: their roles in editions, and the sessions in which they are signed in."""

from accounts.account_sessions import AccountSession
from accounts.memberships import Membership

__all__ = ["AccountSession", "Membership"]
