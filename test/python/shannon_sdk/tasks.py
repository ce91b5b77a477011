"""Tasks as the suites submit them."""

from __future__ import annotations

from shannon import ReviewState, ShannonClient, TaskHandle, TaskStatus

from product import until

QUERY = "What causes tides and how are they predicted?"
REVIEWED = {"force_research": True, "require_review": True}
#: Seconds between two looks at a task; what the package takes by itself is 2.
SOON = 0.1


def submit_reviewed(client: ShannonClient, query: str = QUERY) -> tuple[TaskHandle, ReviewState]:
    """A task whose plan waits for a person, and that plan."""
    handle = client.submit_task(query, context=REVIEWED)
    return handle, client.get_review_state(handle.workflow_id)


def approve_and_wait(client: ShannonClient, handle: TaskHandle) -> TaskStatus:
    client.approve_review(handle.workflow_id)
    return client.wait(handle.task_id, timeout=60, poll_interval=SOON)


def wait_for_event(client: ShannonClient, task_id: str, event_type: str) -> None:
    until(lambda: event_type in [event.type for event in client.get_task_events(task_id)])
