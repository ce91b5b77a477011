from __future__ import annotations

import re
import subprocess
import sysconfig
from pathlib import Path
from typing import Protocol

import pytest
from shannon import ShannonClient

from product import PROJECT, Product
from shannon_sdk.tasks import approve_and_wait, submit_reviewed


class Run(Protocol):
    def __call__(self, *args: str, fails: bool = False) -> str: ...


COMMAND = Path(sysconfig.get_path("scripts")) / "shannon"


@pytest.fixture
def shannon(product: Product) -> Run:
    """The command of the package, run as a person runs it; what it printed."""

    def run(*args: str, fails: bool = False) -> str:
        ran = subprocess.run(
            [str(COMMAND), "--base-url", product.open, *args], capture_output=True, text=True, timeout=90
        )
        assert (ran.returncode != 0) is fails, ran.stdout + ran.stderr
        return ran.stdout

    return run


def test_submit_with_the_research_options_is_taken(shannon: Run, client: ShannonClient) -> None:
    printed = shannon(
        "submit",
        "How are tides predicted?",
        *("--force-research", "--research-strategy", "quick", "--max-iterations", "2"),
        *("--max-concurrent-agents", "2", "--enable-verification", "--enable-citations"),
    )

    task_id = re.search(r"Task ID: (task-\S+)", printed)
    assert task_id
    assert client.get_status(task_id[1]).query == "How are tides predicted?"


def test_submit_wait_prints_the_result(shannon: Run) -> None:
    assert "✓ Result: " in shannon("submit", "What is a tide?", "--wait")


def test_a_review_goes_from_get_over_feedback_to_approve(shannon: Run, client: ShannonClient) -> None:
    handle, state = submit_reviewed(client)

    read = shannon("review-get", handle.workflow_id)
    revised = shannon("review-feedback", handle.workflow_id, "Focus on tide tables", "--version", "1")
    stale = shannon("review-approve", handle.workflow_id, "--version", "1", fails=True)
    approved = shannon("review-approve", handle.workflow_id, "--version", "2")

    assert "Status: reviewing\nRound: 1\nVersion: 1\n" in read
    assert state.current_plan
    assert state.current_plan.splitlines()[0] in read
    assert "Round: 2\n  Version: 2\n" in revised
    assert stale == "✗ [409] Conflict: plan has been updated. Please review the latest version.\n"
    assert "Status: approved\n  Message: Research started\n" in approved


def test_stream_and_status_show_a_finished_task(shannon: Run, client: ShannonClient) -> None:
    handle, _ = submit_reviewed(client)
    approve_and_wait(client, handle)

    streamed = shannon("stream", handle.workflow_id)
    filtered = shannon("stream", handle.workflow_id, "--types", "RESEARCH_PLAN_READY")
    status = shannon("status", handle.task_id)

    assert "RESEARCH_PLAN_READY: " in streamed
    assert streamed.rstrip().splitlines()[-1].endswith("WORKFLOW_COMPLETED: All done")
    assert "WORKFLOW_STARTED" not in filtered
    assert "Status: COMPLETED\n" in status
    assert "Result: " in status


def test_pause_resume_control_state_and_cancel(shannon: Run, client: ShannonClient) -> None:
    handle, _ = submit_reviewed(client)

    assert "✓ Pause request sent" in shannon("pause", handle.task_id, "--reason", "lunch")
    assert "Pause reason: lunch" in shannon("control-state", handle.task_id)
    assert "✓ Resume request sent" in shannon("resume", handle.task_id)
    assert "cancelled" in shannon("cancel", handle.task_id, "--reason", "enough")
    assert "Cancel reason: enough" in shannon("control-state", handle.task_id)


def test_sessions_are_listed_read_renamed_and_deleted(shannon: Run, client: ShannonClient) -> None:
    handle, _ = submit_reviewed(client)
    assert handle.session_id

    assert handle.session_id in shannon("session-list")
    assert shannon("session-title", handle.session_id, "潮汐") == "✓ Updated\n"
    assert client.get_session(handle.session_id).title == "潮汐"
    assert "History msgs: 1\n" in shannon("session-get", handle.session_id)
    assert shannon("session-delete", handle.session_id) == "✓ Deleted\n"
    assert shannon("session-get", handle.session_id, fails=True) == "✗ [404] Session not found\n"


NOT_SERVED = {
    "approve": ("approval-1", "task-1", "--approve"),
    "tools-list": (),
    "tool-get": ("search",),
    "tool-exec": ("search",),
    "session-files": ("session-1",),
    "session-file-get": ("session-1", "notes.md"),
    "memory-files": (),
    "memory-file-get": ("notes.md",),
    "agents-list": (),
    "agent-get": ("writer",),
    "agent-exec": ("writer",),
    "swarm-message": ("task-1", "hello"),
    "skills-list": (),
    "skill-get": ("writing",),
    "skill-versions": ("writing",),
    "schedule-create": ("daily", "0 9 * * *", "What is new?"),
    "schedule-list": (),
    "schedule-get": ("schedule-1",),
    "schedule-update": ("schedule-1", "--name", "weekly"),
    "schedule-pause": ("schedule-1",),
    "schedule-resume": ("schedule-1",),
    "schedule-delete": ("schedule-1",),
    "schedule-runs": ("schedule-1",),
}


@pytest.mark.parametrize("command", NOT_SERVED)
def test_a_command_of_a_part_that_is_not_served_says_not_found(shannon: Run, command: str) -> None:
    assert shannon(command, *NOT_SERVED[command], fails=True) == "✗ [404] Not found\n"


def test_every_command_of_the_package_stands_in_the_table(shannon: Run) -> None:
    offered = re.search(r"\{([a-z,\-]+)\}", shannon("--help"))
    assert offered
    text = (PROJECT / "docs" / "compatibility.md").read_text(encoding="utf-8")
    rows = text.split("## The `shannon` command")[1].split("\n## ")[0]
    told = re.findall(
        r"`([a-z\-]+)(?: --wait)?`", "\n".join(row.split("|")[1] for row in re.findall(r"^\|.*", rows, re.M))
    )
    assert set(told) == set(offered[1].split(","))
