"""What the package declares is what the gateway describes of itself in its OpenAPI document."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

import plangate
import pytest
from plangate import Plangate
from plangate._advice import _BY_CODE

from product import PROJECT

#: Dataclass -> where its schema stands in the document.
MODELS = {
    "Task": "TaskBody",
    "TaskSummary": "TaskList.tasks",
    "TokenUsage": "TaskList.tasks.total_token_usage",
    "Usage": "TokenUsage",
    "ControlState": "ControlState",
    "Event": "WorkflowEvent",
    "ReviewState": "ReviewBody",
    "Decision": "ReviewBody.decision",
    "ReviewRound": "Round",
    "FeedbackAnswer": "FeedbackBody",
    "PlannerAnswer": "FeedbackBody.plan",
    "Approval": "ApproveBody",
    "PlanVersion": "VersionList.versions",
    "PlanDiff": "PlanDiff",
    "Change": "PlanDiff.changes",
    "AuditEntry": "AuditEntry",
    "SessionSummary": "SessionSummary",
    "Session": "SessionBody",
    "SessionTask": "SessionHistory.tasks",
    "SessionTurn": "SessionEvents.turns",
}
#: Fields of the wire that say what another one says.
LEFT_OUT = {"Task": {"error_message"}}


@pytest.fixture(scope="module")
def schemas(product: Any) -> dict[str, Any]:  # noqa: ANN401
    with Plangate(product.open) as client:
        found: dict[str, Any] = client.get_openapi_spec()["components"]["schemas"]
        return found


def schema_at(schemas: dict[str, Any], path: str) -> dict[str, Any]:
    name, *inside = path.split(".")
    schema = schemas[name]
    for field in inside:
        schema = schema["properties"][field]
        schema = schema.get("items", schema)
        if "$ref" in schema:
            schema = schemas[schema["$ref"].rsplit("/", 1)[1]]
    return dict(schema)


@pytest.mark.parametrize("model", MODELS)
def test_a_model_has_the_fields_of_its_schema(schemas: dict[str, Any], model: str) -> None:
    schema = schema_at(schemas, MODELS[model])
    fields = {f.metadata.get("wire", f.name): f for f in dataclasses.fields(getattr(plangate, model))}

    assert set(fields) == set(schema["properties"]) - LEFT_OUT.get(model, set())
    needed = {
        name
        for name, field in fields.items()
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    assert needed <= set(schema["required"])


@pytest.mark.parametrize("method", [Plangate.submit_task, Plangate.submit_and_stream])
def test_a_submission_takes_every_field_of_its_schema(schemas: dict[str, Any], method: Any) -> None:  # noqa: ANN401
    parameters = set(inspect.signature(method).parameters) - {"self", "idempotency_key", "timeout"}
    assert parameters == set(schemas["SubmitTaskBody"]["properties"])


def test_every_error_with_advice_is_one_of_the_gateway() -> None:
    text = (PROJECT / "docs" / "errors.md").read_text(encoding="utf-8")
    assert set(_BY_CODE) <= set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
