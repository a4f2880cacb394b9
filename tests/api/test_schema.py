"""The OpenAPI schema matches the API: every operation, requested with generated parameters."""

from itertools import batched
from typing import Any

import pytest
import schemathesis
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from jsonschema import Draft202012Validator
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from api.schema import schema
from api.shapes import RESOURCES
from tests.api.reading import application, expansions
from tests.api.writing import WRITABLE, make_staff, make_token

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
# The schema does not depend on the database.
pytestmark = pytest.mark.anywhere
EXAMPLES = settings(
    max_examples=6,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def test_schema_is_openapi_3_1_and_served(client: Client, db: None) -> None:
    response = client.get("/api/schema/")

    assert response.json() == schema()
    assert schema()["openapi"] == "3.1.0"


def test_every_resource_is_in_the_schema(db: None) -> None:
    paths = set(schema()["paths"])

    assert {f"/api/v1/{name}/" for name in RESOURCES} <= paths
    # Unreleased changes have three paths, and four operations.
    assert len(paths) == 2 * len(RESOURCES) + 2 + 3


def test_every_operation_documents_its_errors() -> None:
    undocumented = {
        (path, code)
        for path, methods in schema()["paths"].items()
        for code in ("400", "404", "429")
        if code not in (methods.get("get") or methods["post"])["responses"]
    }
    lists = {f"/api/v1/{name}/" for name in ["", *RESOURCES]}

    assert undocumented == {(path.replace("//", "/"), "404") for path in lists}


def test_expanded_responses_match_the_schema(client: Client, program: dict[str, Any]) -> None:
    for name, resource in RESOURCES.items():
        list_schema = {
            "$ref": f"#/components/schemas/{resource.title}List",
            "components": schema()["components"],
        }
        for names in ([], *batched(expansions(resource), 40, strict=False)):
            body = client.get(f"/api/v1/{name}/", {"expand": ",".join(names)}).json()
            Draft202012Validator(list_schema).validate(body)


def request_every_operation(headers: dict[str, str], examples: int = 6) -> list[Any]:
    """Request all operations with generated parameters and bodies; return the operations."""
    api: Any = schemathesis.openapi.from_wsgi("/api/schema/", application)
    operations = [result.ok() for result in api.get_all_operations()]
    for operation in operations:

        @settings(EXAMPLES, max_examples=examples)
        @given(case=operation.as_strategy())
        def check_responses(case: Any) -> None:
            case.call_and_validate(checks=CHECKS, headers=headers)

        check_responses()
    return operations


def test_responses_to_staff_match_the_schema(program: dict[str, Any]) -> None:
    token = make_token(make_staff())

    request_every_operation({"Authorization": f"Bearer {token}"}, examples=3)


def test_anonymous_responses_match_the_schema(program: dict[str, Any]) -> None:
    operations = request_every_operation({})
    assert len(operations) == 2 * len(RESOURCES) + 2 + 3 * len(WRITABLE) + 2 + 4
