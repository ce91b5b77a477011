"""The samples of the plan-review documentation, to the letter: only the address and the waits are others."""

from __future__ import annotations

import asyncio

import pytest
from shannon import ShannonClient, TaskStatusEnum

from product import Product, until
from samples import run_sample


def test_the_synchronous_sample_goes_from_submit_to_the_report(
    product: Product, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = run_sample("plan_review_sync.py", product, {"time.sleep(2)": "time.sleep(0.1)"})

    assert (seen["state"].status, seen["state"].round, seen["state"].version) == ("reviewing", 1, 1)
    assert (seen["updated"].status, seen["updated"].round, seen["updated"].version) == ("reviewing", 2, 2)
    for wanted in ("Cursor", "GitHub Copilot", "Windsurf"):
        assert wanted in seen["updated"].current_plan
    assert [r.role for r in seen["updated"].rounds] == ["assistant", "user", "assistant"]
    assert seen["result"] == {"status": "approved", "message": "Research started"}
    assert seen["final"].status == TaskStatusEnum.COMPLETED
    assert seen["final"].result
    printed = capsys.readouterr().out
    assert "初期計画（ラウンド 1）" in printed
    assert "改善された計画（ラウンド 2）" in printed
    assert seen["final"].result in printed


def test_the_asynchronous_sample_reads_the_review_once_right_after_submit_and_gets_the_plan(
    product: Product, client: ShannonClient
) -> None:
    asyncio.run(run_sample("plan_review_async.py", product, {})["review_workflow"]())

    tasks, _ = client.list_tasks(limit=10)
    task = next(task for task in tasks if task.query == "AIエージェントフレームワークを分析")
    review = client.get_review_state(task.task_id)
    assert (review.status, review.round) == ("approved", 2)
    assert review.rounds[1].message == "LangGraphとCrewAIの比較に焦点を当ててください"
    assert "LangGraph" in (review.current_plan or "")
    until(lambda: client.get_status(task.task_id).status == TaskStatusEnum.COMPLETED)
