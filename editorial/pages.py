"""Further pages of a model in the admin: views that get the model's admin."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from django.contrib.admin import ModelAdmin
from django.http import HttpResponseBase
from django.urls import URLPattern, path

# Address below the model's, name after the model's, view: (model admin, request, what the address has).
Page = tuple[str, str, Callable[..., HttpResponseBase]]


def page_urls(model_admin: ModelAdmin[Any], pages: Iterable[Page]) -> list[URLPattern]:
    """Return the addresses of these pages, for people who may enter the admin."""
    wrap, opts = model_admin.admin_site.admin_view, model_admin.opts
    return [
        path(address, wrap(partial(view, model_admin)), name=f"{opts.app_label}_{opts.model_name}_{name}")
        for address, name, view in pages
    ]
