"""The review of a plan (contract/plan-review.md §2)."""

from __future__ import annotations

import random
import time
from time import monotonic
from typing import Optional

from .. import _requests as requests
from .._retry import delay_seconds
from ..errors import NotFoundError, PlangateError, TaskEndedError, WaitTimeoutError
from ..models import Approval, AuditEntry, FeedbackAnswer, PlanDiff, PlanVersion, ReviewState, TaskRef
from .transport import Transport, once

#: Longest wait of the gateway for a first plan, in seconds.
_PLAN_SECONDS = 25
#: How much longer than that its answer may take, in seconds.
_MARGIN_SECONDS = 2.0


class ReviewMethods(Transport):
    """What can be done with the review of a plan."""

    def get_review_state(
        self, workflow_id: TaskRef, *, wait: Optional[int] = None, timeout: Optional[float] = None
    ) -> ReviewState:
        """A review as it stands. Where the first plan is still being made, the gateway waits for it.

        Args:
            workflow_id: The task.
            wait: How long the gateway may wait, 0 to 25 seconds; default 20.
            timeout: Seconds for the answer.

        Raises:
            NotFoundError: There is no review, or not yet.
        """
        return self._send(requests.get_review_state(workflow_id, wait), timeout)

    def wait_for_review(self, workflow_id: TaskRef, timeout: Optional[float] = None) -> ReviewState:
        """Wait, however long it takes, until there is a first plan or a question of the planner.

        Raises:
            TaskEndedError: The task ended without one.
            NotFoundError: There is no such task, or its plan is not reviewed.
            WaitTimeoutError: There is none after ``timeout`` seconds; the task goes on.
        """
        ends = None if timeout is None else monotonic() + timeout
        while True:
            left = None if ends is None else ends - monotonic()
            if left is not None and left <= 0:
                raise WaitTimeoutError(f"task {requests.id_of(workflow_id)} has no plan after {timeout} s; it goes on")
            # The first look comes back at once: from then on the gateway is known to be there.
            longest = 0 if self._reached is None else _PLAN_SECONDS
            wait = longest if left is None else min(longest, int(left))
            limit = None if left is None else left + _MARGIN_SECONDS
            asked = monotonic()
            try:
                try:
                    return self.get_review_state(workflow_id, wait=wait, timeout=limit)
                except NotFoundError as error:
                    self._reached = monotonic()
                    if error.code != "review_not_found":
                        raise
                    # The gateway waits only where a review will come.
                    is_coming = self._reached - asked >= wait / 2
                    task = self._send(requests.get_status(workflow_id), limit)
                    if task.status.is_over:
                        raise TaskEndedError(task) from error
                    if not is_coming:
                        raise
                    pause = 0.2
            except PlangateError as error:
                if not self._outlives(error):
                    raise
                pause = delay_seconds(error, 0, random.random())
            time.sleep(pause if ends is None else min(pause, max(ends - monotonic(), 0.0)))

    def submit_review_feedback(
        self,
        workflow_id: TaskRef,
        message: str,
        *,
        version: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> FeedbackAnswer:
        """Ask the planner to change the plan, or answer its question. Takes as long as the model does.

        Args:
            workflow_id: The task.
            message: What to change.
            version: The version that was read; without it, whatever is there by then is changed.
            idempotency_key: To ask again later without doing it twice.
            timeout: Seconds for the answer.

        Raises:
            ConflictError: The review is no longer the one that was read, or its rounds are used up.
            BadGatewayError: The model failed; nothing has changed.
        """
        action = {"action": "feedback", "message": message}
        headers = once(idempotency_key)
        return self._send(requests.act(FeedbackAnswer, workflow_id, action, version, headers), timeout)

    def approve_review(
        self,
        workflow_id: TaskRef,
        *,
        version: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Approval:
        """Approve the plan: with ``version``, exactly the one that was read is executed.

        Without ``version`` whatever is the plan by then is approved, also one that nobody has read.

        Raises:
            ConflictError: It is no longer the plan, or the review is closed.
        """
        action = {"action": "approve"}
        headers = once(idempotency_key)
        return self._send(requests.act(Approval, workflow_id, action, version, headers), timeout)

    def edit_review(
        self,
        workflow_id: TaskRef,
        plan: str,
        *,
        version: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> ReviewState:
        """Put a text of one's own in the place of the plan; without a model, and without using a round."""
        action = {"action": "edit", "plan": plan}
        headers = once(idempotency_key)
        return self._send(requests.act(ReviewState, workflow_id, action, version, headers), timeout)

    def reject_review(
        self,
        workflow_id: TaskRef,
        reason: Optional[str] = None,
        *,
        version: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> ReviewState:
        """Refuse the plan for good; the task ends, and the reason stands in its ``error``."""
        action = {"action": "reject", "reason": reason}
        headers = once(idempotency_key)
        return self._send(requests.act(ReviewState, workflow_id, action, version, headers), timeout)

    def extend_review(
        self,
        workflow_id: TaskRef,
        seconds: int,
        *,
        version: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> ReviewState:
        """Move the deadline by so many seconds."""
        action = {"action": "extend", "seconds": seconds}
        headers = once(idempotency_key)
        return self._send(requests.act(ReviewState, workflow_id, action, version, headers), timeout)

    def get_review_versions(self, workflow_id: TaskRef, timeout: Optional[float] = None) -> list[PlanVersion]:
        """Every text that was the plan."""
        return self._send(requests.get_review_versions(workflow_id), timeout)

    def get_review_diff(
        self, workflow_id: TaskRef, from_version: int, to_version: int, timeout: Optional[float] = None
    ) -> PlanDiff:
        """What changed between two of them, word by word."""
        return self._send(requests.get_review_diff(workflow_id, from_version, to_version), timeout)

    def get_review_audit(self, workflow_id: TaskRef, timeout: Optional[float] = None) -> list[AuditEntry]:
        """Every step and every refusal, chained by hash."""
        return self._send(requests.get_review_audit(workflow_id), timeout)
