"""What a person can do about an answer that is no success."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

_READ_AGAIN = "Read it with get_review_state() and decide on what it shows."

#: By the gateway's slug; they do not change.
_BY_CODE = {
    "authentication_required": "Give the client an api_key or a bearer_token.",
    "invalid_token": (
        "The key or token is unknown, expired or revoked: "
        "`npm run keys -- create` where the gateway runs makes a new key."
    ),
    "host_not_allowed": "Address the gateway as localhost, or turn authentication on.",
    "forbidden_owner": "Use a credential of the task's owner.",
    "forbidden_tenant": "Use a credential of the task's tenant.",
    "task_not_found": "Check the id, and that the credential is that of its owner.",
    "session_not_found": "Check the id, and that the credential is that of its owner.",
    "review_not_found": (
        'Submit the task with context={"require_review": True}; a closed review is kept for minutes only.'
    ),
    "version_conflict": "The review is at version {version} now. " + _READ_AGAIN,
    "feedback_in_flight": f"Its answer comes within a minute. {_READ_AGAIN}",
    "max_rounds": "Approve, edit or reject the plan.",
    "review_approved": "The decision stands; cancel the task to stop the research.",
    "review_closed": "The decision stands; submit the task again to review a new plan.",
    "precondition_required": "Pass the version of the review that was read.",
    "planner_failed": "Nothing has changed and no round is used: send the feedback again.",
    "idempotency_running": "It is still being worked on: ask again {soon} with the same idempotency_key.",
    "too_many_streams": "Close a stream, or come back {soon}.",
    "store_unavailable": "Nothing is lost; try again {soon}.",
    "engine_unavailable": "Nothing is lost; try again {soon}.",
}

_BEHIND_A_PROXY = "Something between here and the gateway does not reach it: check base_url and the proxy."

_BY_STATUS = {
    413: "Send less.",
    422: "Use another idempotency_key for another request.",
    429: "Come back {soon}.",
    500: "The gateway's log has the reason under this request.",
    502: _BEHIND_A_PROXY,
    503: "Try again {soon}.",
    504: _BEHIND_A_PROXY,
}


def advice_for(status: int, body: Optional[Mapping[str, Any]], retry_after: Optional[str]) -> str:
    """A sentence; empty where the gateway's own words say it."""
    advice = _BY_CODE.get(str((body or {}).get("code")), _BY_STATUS.get(status, ""))
    version = str((body or {}).get("version", "another one"))
    soon = f"in {retry_after} s" if retry_after and retry_after.isdigit() else "soon"
    return advice.replace("{version}", version).replace("{soon}", soon)
