"""Pages for monitoring: whether the process runs, whether the site is ready, metrics."""

import secrets

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from operations.monitoring import metrics
from operations.monitoring.readiness import readiness


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """Return 200: the process answers."""
    return HttpResponse("ok\n", content_type="text/plain; charset=utf-8")


@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """Say whether the site can answer visitors, and what is missing: 200 or 503."""
    is_ready, words = readiness()
    answer = {"ready": is_ready, "checks": words}
    if is_ready:
        return JsonResponse(answer)
    return JsonResponse(answer, status=503, headers={"Retry-After": "30"})


@require_safe
@never_cache
def metrics_page(request: HttpRequest) -> HttpResponse:
    """Show the metrics with the right token; otherwise answer 404."""
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    token = settings.METRICS_TOKEN
    if not token or not secrets.compare_digest(given.encode(), token.encode()):
        raise Http404("There are no metrics here.")
    return HttpResponse(metrics.page(), content_type=CONTENT_TYPE_LATEST)
