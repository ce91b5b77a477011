from __future__ import annotations

from functools import partial
from typing import Callable

import pytest
from shannon import (
    AuthenticationError,
    ConnectionError,
    Event,
    PermissionDeniedError,
    RateLimitError,
    ShannonClient,
    TaskNotFoundError,
    ValidationError,
)

from product import Product
from shannon_sdk.tasks import SOON, submit_reviewed

Ask = Callable[[], object]


@pytest.mark.parametrize("key", [None, "sk_wrong"])
def test_a_missing_or_wrong_key_is_an_authentication_error(product: Product, key: str | None) -> None:
    with ShannonClient(base_url=product.guarded, api_key=key) as nobody:
        asks: list[Ask] = [
            lambda: nobody.submit_task("What is a tide?"),
            lambda: nobody.get_status("task-x"),
            lambda: nobody.get_review_state("task-x"),
            lambda: nobody.list_tasks(),
        ]
        for ask in asks:
            with pytest.raises(AuthenticationError) as error:
                ask()
            assert error.value.code == "401"
        with pytest.raises(ConnectionError, match="401"):
            list(nobody.stream("task-x", reconnect=False))


def test_a_key_opens_everything_of_its_user_streams_too(ada: ShannonClient) -> None:
    handle, state = submit_reviewed(ada)
    ada.approve_review(handle.workflow_id, version=state.version)

    assert ada.wait(handle.task_id, timeout=60, poll_interval=SOON).result
    assert list(ada.stream(handle.workflow_id))[-1].type == "done"


def test_a_key_as_bearer_token_is_the_same(product: Product, ada: ShannonClient) -> None:
    handle, _ = submit_reviewed(ada)

    with ShannonClient(base_url=product.guarded, bearer_token=product.keys["ada"]) as bearer:
        assert bearer.get_status(handle.task_id).task_id == handle.task_id
        events: list[Event] = []
        for event in bearer.stream(handle.workflow_id):
            events.append(event)
            break
    assert events[0].type == "WORKFLOW_STARTED"


def test_a_review_of_somebody_else_is_permission_denied(
    ada: ShannonClient, bob: ShannonClient, stranger: ShannonClient
) -> None:
    handle, _ = submit_reviewed(ada)

    refused = [
        (bob, "Forbidden: not the task owner"),
        (stranger, "Forbidden: not authorized for this tenant"),
    ]
    for other, reason in refused:
        asks: list[Ask] = [
            partial(other.get_review_state, handle.workflow_id),
            partial(other.submit_review_feedback, handle.workflow_id, "Focus on tide tables"),
            partial(other.approve_review, handle.workflow_id),
        ]
        for ask in asks:
            with pytest.raises(PermissionDeniedError) as error:
                ask()
            assert str(error.value) == f"[403] {reason}"
    assert ada.get_review_state(handle.workflow_id).version == 1


def test_a_task_of_somebody_else_is_not_found(ada: ShannonClient, bob: ShannonClient) -> None:
    handle, _ = submit_reviewed(ada)

    asks: list[Ask] = [
        partial(method, handle.task_id)
        for method in (
            bob.get_status,
            bob.get_task_events,
            bob.get_task_timeline,
            bob.get_control_state,
            bob.cancel,
            bob.pause_task,
            bob.resume_task,
        )
    ]
    for ask in asks:
        with pytest.raises(TaskNotFoundError) as error:
            ask()
        assert str(error.value) == "[404] Task not found"
    assert list(bob.stream(handle.workflow_id)) == []
    assert handle.task_id not in [task.task_id for task in bob.list_tasks()[0]]


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        ({"require_reviews": True}, "Unknown key 'require_reviews' (did you mean 'context.require_review'?)"),
        ({"review_plan": "automatic"}, "review_plan must be 'manual' or 'auto'"),
        ({"require_review": True, "review_timeout": 0}, "review_timeout out of range (1..2592000)"),
    ],
)
def test_a_wrong_submission_is_a_validation_error(
    client: ShannonClient, context: dict[str, object], reason: str
) -> None:
    with pytest.raises(ValidationError) as error:
        client.submit_task("What is a tide?", context=context)
    assert str(error.value) == f"[400] {reason}"


def test_a_bad_id_is_a_validation_error(client: ShannonClient) -> None:
    with pytest.raises(ValidationError, match="Invalid task ID format"):
        client.get_status("a b")


def test_a_pause_that_comes_too_late_says_why(client: ShannonClient) -> None:
    handle = client.submit_task("What is a tide?")
    client.wait(handle.task_id, timeout=60, poll_interval=SOON)

    with pytest.raises(ConnectionError) as error:
        client.pause_task(handle.task_id)

    assert str(error.value) == "[409] HTTP 409: cannot pause completed task"


def test_too_many_requests_are_a_rate_limit_error_and_never_stop_a_wait(busy: ShannonClient) -> None:
    handle = busy.submit_task("What is a tide?")
    with pytest.raises(RateLimitError) as error:
        [busy.list_tasks(limit=1) for _ in range(400)]

    assert str(error.value) == "[429] Rate limit exceeded"
    assert busy.wait(handle.task_id, timeout=60, poll_interval=SOON).result
