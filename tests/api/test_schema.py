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

from api.resources import WRITABLE
from api.schema import schema
from api.shapes import RESOURCES
from tests.api.reading import application, expansions
from tests.api.writing import make_staff, make_token

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


def test_every_resource_is_described(db: None) -> None:
    paths = set(schema()["paths"])

    assert {f"/api/v1/{name}/" for name in RESOURCES} <= paths
    assert len(paths) == 2 * len(RESOURCES) + 2


def test_every_operation_documents_its_errors() -> None:
    codes = {
        (path, code)
        for path, ways in schema()["paths"].items()
        for code in ("400", "404", "429")
        if code not in ways["get"]["responses"]
    }
    lists = {f"/api/v1/{name}/" for name in ["", *RESOURCES]}

    assert codes == {(path.replace("//", "/"), "404") for path in lists}


def test_answers_fit_their_description_however_deep(client: Client, program: dict[str, Any]) -> None:
    for name, resource in RESOURCES.items():
        page = {"$ref": f"#/components/schemas/{resource.title}List", "components": schema()["components"]}
        for part in ([], *batched(expansions(resource), 40, strict=False)):
            answer = client.get(f"/api/v1/{name}/", {"expand": ",".join(part)}).json()
            Draft202012Validator(page).validate(answer)


def ask_every_operation(headers: dict[str, str], examples: int = 6) -> list[Any]:
    """Request all operations with generated parameters and bodies; return the operations."""
    described: Any = schemathesis.openapi.from_wsgi("/api/schema/", application)
    operations = [found.ok() for found in described.get_all_operations()]
    for operation in operations:

        @settings(EXAMPLES, max_examples=examples)
        @given(case=operation.as_strategy())
        def answers(case: Any) -> None:
            case.call_and_validate(checks=CHECKS, headers=headers)

        answers()
    return operations


def test_no_operation_fails_or_answers_staff_what_is_not_documented(program: dict[str, Any]) -> None:
    token = make_token(make_staff())

    ask_every_operation({"Authorization": f"Bearer {token}"}, examples=3)


def test_no_operation_fails_or_answers_what_is_not_documented(program: dict[str, Any]) -> None:
    operations = ask_every_operation({})
    assert len(operations) == 2 * len(RESOURCES) + 2 + 3 * len(WRITABLE) + 2
