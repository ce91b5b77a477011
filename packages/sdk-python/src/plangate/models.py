"""What the gateway answers with. Fields have the names that they have on the wire; unknown ones are left out."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import Enum
from typing import Any, Optional, Union


class TaskStatus(str, Enum):
    """Status of a task."""

    QUEUED = "TASK_STATUS_QUEUED"
    RUNNING = "TASK_STATUS_RUNNING"
    PAUSED = "TASK_STATUS_PAUSED"
    COMPLETED = "TASK_STATUS_COMPLETED"
    FAILED = "TASK_STATUS_FAILED"
    CANCELLED = "TASK_STATUS_CANCELLED"
    TIMEOUT = "TASK_STATUS_TIMEOUT"
    #: One that a newer gateway has and this package does not know.
    UNKNOWN = "TASK_STATUS_UNKNOWN"

    @classmethod
    def _missing_(cls, value: object) -> Optional[TaskStatus]:
        return cls.UNKNOWN if isinstance(value, str) and value.startswith("TASK_STATUS_") else None

    @property
    def is_over(self) -> bool:
        """True where nothing more happens to the task."""
        going_on = (TaskStatus.QUEUED, TaskStatus.RUNNING, TaskStatus.PAUSED, TaskStatus.UNKNOWN)
        return self not in going_on


@dataclass(frozen=True)
class TaskHandle:
    """A submitted task; every method that takes an id of a task takes it too. ``workflow_id`` is the same id."""

    task_id: str
    workflow_id: str
    session_id: str = ""


#: A task, by its handle or its id.
TaskRef = Union[str, TaskHandle]


@dataclass(frozen=True)
class Usage:
    """Tokens of a task, and what they cost in US dollars."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    estimated_cost: float = 0.0


@dataclass(frozen=True)
class Citation:
    """A source of a report, which refers to it as ``[n]``."""

    n: int
    title: str = ""
    url: str = ""
    source: str = ""
    passage_id: str = ""
    #: Words of the source that carry the claim, letter by letter.
    quote: str = ""
    #: True where the quote was found to carry the claim; false also where claims are not checked.
    checked: bool = False


@dataclass(frozen=True)
class Task:
    """A task as it stands."""

    task_id: str
    workflow_id: str
    status: TaskStatus
    #: Markdown; empty while there is none.
    result: str
    query: str
    session_id: str
    mode: str
    context: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    completed_at: Optional[datetime] = None
    #: Why there is no result; empty otherwise.
    error: str = ""
    model_used: str = ""
    provider: str = ""
    usage: Usage = field(default_factory=Usage)
    #: For research: ``citations``, ``plan_sha256``, ``approved_by``, ``verification`` and more.
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def citations(self) -> list[Citation]:
        """The sources of the report, as it numbers them; empty where it has none."""
        known = [field.name for field in fields(Citation)]
        return [
            Citation(**{name: citation[name] for name in known if name in citation})
            for citation in self.metadata.get("citations", [])
        ]


@dataclass(frozen=True)
class TokenUsage:
    """Tokens of a task in a list."""

    total_tokens: int = 0
    cost_usd: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True)
class TaskSummary:
    """A task in a list."""

    task_id: str
    query: str
    status: TaskStatus
    mode: str
    created_at: datetime
    completed_at: Optional[datetime] = None
    total_token_usage: TokenUsage = field(default_factory=TokenUsage)


@dataclass(frozen=True)
class ControlState:
    """Whether a task is paused or cancelled, by whom and why."""

    is_paused: bool
    is_cancelled: bool
    paused_at: Optional[datetime] = None
    pause_reason: str = ""
    paused_by: str = ""
    cancel_reason: str = ""
    cancelled_by: str = ""


@dataclass(frozen=True)
class Event:
    """Something that happened in a workflow."""

    #: ``RESEARCH_PLAN_READY`` and so on. On a stream some have other names, such as ``thread.message.completed``.
    type: str
    workflow_id: str
    #: From 1, without gaps.
    seq: int
    #: Where a stream goes on after this event: ``last_event_id``.
    stream_id: str
    agent_id: str = ""
    message: str = ""
    timestamp: Optional[datetime] = None
    payload: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Gap:
    """Events of a stream that are no longer kept: those between ``requested`` and ``earliest``."""

    requested: Union[int, str]
    earliest: Union[int, str]
    latest: Union[int, str]


@dataclass(frozen=True)
class ReviewRound:
    """One message of the conversation about a plan."""

    #: ``assistant`` or ``user``.
    role: str
    message: str
    timestamp: datetime


@dataclass(frozen=True)
class Decision:
    """What a person decided."""

    #: ``approve``, ``reject`` or ``cancel``.
    action: str
    by: str
    at: datetime
    reason: str = ""


@dataclass(frozen=True)
class ReviewState:
    """A review as it stands."""

    #: ``reviewing``, ``approved``, ``rejected``, ``cancelled`` or ``timed_out``.
    status: str
    round: int
    #: Grows with every change; pass it on to decide on exactly this state.
    version: int
    #: The newest plan that can be approved; empty while the planner only asks, then ``rounds`` ends with its question.
    current_plan: str
    rounds: list[ReviewRound]
    query: str
    #: What the planner thinks of its last answer: ``ready`` or ``feedback``.
    intent: str
    created_at: datetime
    expires_at: datetime
    max_rounds: int
    feedbacks_left: int
    plan_version: int
    plan_sha256: str
    decision: Optional[Decision] = None


@dataclass(frozen=True)
class PlannerAnswer:
    """What the planner answered to a feedback."""

    message: str
    round: int
    version: int
    #: ``ready``: a plan; ``feedback``: a question.
    intent: str


@dataclass(frozen=True)
class FeedbackAnswer:
    """A review after a feedback."""

    status: str
    plan: PlannerAnswer
    round: int
    version: int
    current_plan: str
    rounds: list[ReviewRound]
    query: str


@dataclass(frozen=True)
class Approval:
    """An approval that is recorded."""

    status: str
    message: str


@dataclass(frozen=True)
class PlanVersion:
    """A text that was the plan."""

    version: int
    #: ``assistant`` or ``user``.
    author: str
    created_at: datetime
    sha256: str
    text: str
    by: str = ""


@dataclass(frozen=True)
class Change:
    """A part of a difference."""

    #: ``equal``, ``insert`` or ``delete``.
    op: str
    text: str


@dataclass(frozen=True)
class PlanDiff:
    """What changed between two versions of a plan."""

    from_version: int = field(metadata={"wire": "from"})
    to_version: int = field(metadata={"wire": "to"})
    changes: list[Change]
    unified: str


@dataclass(frozen=True)
class AuditEntry:
    """A decision that was made or refused, chained to the one before it by hash."""

    n: int
    at: datetime
    by: str
    action: str
    #: ``accepted`` or ``refused``.
    outcome: str
    code: str
    version: int
    request_id: str
    prev: str
    hash: str
    plan_sha256: str = ""
    #: ``accepted``, ``refused`` or ``foreign``: whose ``n`` and ``prev`` these are; empty in old entries.
    chain: str = ""


@dataclass(frozen=True)
class SessionSummary:
    """A session in a list. Statuses of tasks have no prefix here: ``COMPLETED``."""

    session_id: str
    user_id: str
    title: str
    task_count: int
    tokens_used: int
    created_at: datetime
    updated_at: datetime
    last_activity_at: datetime
    is_active: bool
    is_research_session: bool
    latest_task_query: str
    latest_task_status: str
    successful_tasks: int
    failed_tasks: int
    total_cost_usd: float


@dataclass(frozen=True)
class Session:
    """A session."""

    session_id: str
    user_id: str
    title: str
    tokens_used: int
    cost_usd: float
    task_count: int
    created_at: datetime
    updated_at: datetime
    is_research_session: bool
    research_strategy: str


@dataclass(frozen=True)
class SessionTask:
    """A task in the history of a session. Its status has no prefix: ``COMPLETED``."""

    task_id: str
    workflow_id: str
    query: str
    status: str
    result: str
    error_message: str
    total_tokens: int
    total_cost_usd: float
    started_at: datetime
    completed_at: Optional[datetime]
    agents_used: int
    tools_invoked: int


@dataclass(frozen=True)
class SessionTurn:
    """A task of a session with everything that happened in it."""

    #: From 1, oldest first.
    turn: int
    task_id: str
    user_query: str
    final_output: str
    timestamp: datetime
    events: list[Event]
    metadata: dict[str, Any]
