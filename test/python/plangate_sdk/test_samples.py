"""The samples of the plan-review documentation: only the import, the address and the waits are others."""

from __future__ import annotations

import asyncio

import pytest
from plangate import Plangate, TaskStatus

from product import Product
from samples import run_sample


def test_the_synchronous_sample_runs_with_another_import(product: Product, capsys: pytest.CaptureFixture[str]) -> None:
    changed = {
        "from shannon import ShannonClient": "from plangate import Plangate as ShannonClient",
        "time.sleep(2)": "time.sleep(0.1)",
    }
    seen = run_sample("plan_review_sync.py", product, changed)

    assert (seen["state"].round, seen["updated"].round) == (1, 2)
    assert (seen["result"].status, seen["result"].message) == ("approved", "Research started")
    assert seen["final"].status is TaskStatus.COMPLETED
    assert seen["final"].result in capsys.readouterr().out


def test_the_asynchronous_sample_runs_with_another_import(product: Product, client: Plangate) -> None:
    changed = {"from shannon import AsyncShannonClient": "from plangate import AsyncPlangate as AsyncShannonClient"}
    asyncio.run(run_sample("plan_review_async.py", product, changed)["review_workflow"]())

    tasks, _ = client.list_tasks(limit=1)
    assert tasks[0].query == "AIエージェントフレームワークを分析"
    review = client.get_review_state(tasks[0].task_id)
    assert (review.status, review.round) == ("approved", 2)
