"""The cache that several processes share (Redis or Valkey): while it is away, the site goes on without."""

from typing import Any

from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError


class SharedCache(RedisCache):
    """Nothing is found and nothing is kept while the server does not answer. `/readyz` tells."""

    def add(self, *args: Any, **kwargs: Any) -> bool:
        try:
            return bool(super().add(*args, **kwargs))
        except RedisError:
            return True

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        try:
            return super().get(key, default, version)
        except RedisError:
            return default

    def set(self, *args: Any, **kwargs: Any) -> None:
        try:
            super().set(*args, **kwargs)
        except RedisError:
            return

    def touch(self, *args: Any, **kwargs: Any) -> bool:
        try:
            return bool(super().touch(*args, **kwargs))
        except RedisError:
            return False

    def delete(self, *args: Any, **kwargs: Any) -> bool:
        try:
            return bool(super().delete(*args, **kwargs))
        except RedisError:
            return False

    def delete_many(self, *args: Any, **kwargs: Any) -> None:
        try:
            super().delete_many(*args, **kwargs)
        except RedisError:
            return

    def has_key(self, *args: Any, **kwargs: Any) -> bool:
        try:
            return bool(super().has_key(*args, **kwargs))
        except RedisError:
            return False

    def clear(self) -> None:
        try:
            super().clear()
        except RedisError:
            return

    def get_many(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        try:
            return super().get_many(*args, **kwargs)
        except RedisError:
            return {}

    def set_many(self, data: dict[Any, Any], *args: Any, **kwargs: Any) -> list[Any]:
        try:
            return super().set_many(data, *args, **kwargs)
        except RedisError:
            return list(data)

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> int:
        try:
            return int(super().incr(key, delta, version))
        except RedisError:
            return delta
