"""``docs/compatibility.md`` tells of every method what becomes of it, and names the test that proves it."""

from __future__ import annotations

import re
from typing import Any, Callable

import httpx
import pytest
from shannon import AsyncShannonClient, ShannonClient, ShannonError
from websockets.exceptions import InvalidStatus

from product import PROJECT, Product

FOLDER = PROJECT / "test" / "python" / "shannon_sdk"

HELLO = [{"role": "user", "content": "hello"}]

#: Parts that Plangate does not have, and how the package asks for them.
NOT_SERVED: dict[str, Callable[[ShannonClient], Any]] = {
    "approve": lambda c: c.approve("approval-1", "task-1"),
    "list_session_files": lambda c: c.list_session_files("session-1"),
    "download_session_file": lambda c: c.download_session_file("session-1", "notes.md"),
    "list_memory_files": lambda c: c.list_memory_files(),
    "download_memory_file": lambda c: c.download_memory_file("notes.md"),
    "list_agents": lambda c: c.list_agents(),
    "get_agent": lambda c: c.get_agent("writer"),
    "execute_agent": lambda c: c.execute_agent("writer", {}),
    "send_swarm_message": lambda c: c.send_swarm_message("task-1", "hello"),
    "list_openai_models": lambda c: c.list_openai_models(),
    "get_openai_model": lambda c: c.get_openai_model("model"),
    "create_chat_completion": lambda c: c.create_chat_completion(HELLO),
    "stream_chat_completion": lambda c: list(c.stream_chat_completion([{"role": "user", "content": "hello"}])),
    "create_completion": lambda c: c.create_completion({"prompt": "hello"}),
    "stream_completion": lambda c: list(c.stream_completion({"prompt": "hello"})),
    "list_tools": lambda c: c.list_tools(),
    "get_tool": lambda c: c.get_tool("search"),
    "execute_tool": lambda c: c.execute_tool("search", arguments={}),
    "list_skills": lambda c: c.list_skills(),
    "get_skill": lambda c: c.get_skill("writing"),
    "get_skill_versions": lambda c: c.get_skill_versions("writing"),
    "create_schedule": lambda c: c.create_schedule("daily", "0 9 * * *", "What is new?"),
    "get_schedule": lambda c: c.get_schedule("schedule-1"),
    "list_schedules": lambda c: c.list_schedules(),
    "update_schedule": lambda c: c.update_schedule("schedule-1", name="weekly"),
    "pause_schedule": lambda c: c.pause_schedule("schedule-1"),
    "resume_schedule": lambda c: c.resume_schedule("schedule-1"),
    "delete_schedule": lambda c: c.delete_schedule("schedule-1"),
    "get_schedule_runs": lambda c: c.get_schedule_runs("schedule-1"),
}


def rows() -> dict[str, tuple[str, str, str]]:
    """Method -> outcome, remark, proof, as the table has them."""
    text = (PROJECT / "docs" / "compatibility.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| `(\w+)` \| (works|not served) \|(.*?)\| (`test_.*) \|$", text, re.MULTILINE)
    return {method: (outcome, remark.strip(), proof) for method, outcome, remark, proof in found}


@pytest.mark.parametrize("face", [ShannonClient, AsyncShannonClient])
def test_every_public_method_of_the_package_stands_in_the_table(face: type) -> None:
    methods = {name for name in vars(face) if not name.startswith("_")}
    assert methods == set(rows())


def test_every_row_names_a_test_that_exists() -> None:
    for method, (_, _, proof) in rows().items():
        proofs = re.findall(r"`(test_\w+\.py)::(test_\w+)`", proof)
        assert proofs, method
        for file, test in proofs:
            assert f"def {test}(" in (FOLDER / file).read_text(encoding="utf-8"), method


def test_the_table_and_the_tests_agree_on_what_is_not_served() -> None:
    not_served = {method for method, (outcome, _, _) in rows().items() if outcome == "not served"}
    assert not_served == {*NOT_SERVED, "stream_ws"}


@pytest.mark.parametrize("method", NOT_SERVED)
def test_what_is_not_served_is_a_404_that_the_package_understands(client: ShannonClient, method: str) -> None:
    with pytest.raises(ShannonError) as error:
        NOT_SERVED[method](client)
    assert (error.value.code, error.value.message) == ("404", "Not found")


def test_a_web_socket_is_refused_with_404(product: Product, client: ShannonClient) -> None:
    with pytest.raises(InvalidStatus) as error:
        list(client.stream_ws("task-1"))
    assert error.value.response.status_code == 404
    answer = httpx.get(f"{product.open}/api/v1/stream/ws", timeout=30)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_close_may_be_said_twice_and_a_closed_client_opens_again(product: Product) -> None:
    client = ShannonClient(base_url=product.open)
    assert client.health()["status"] == "healthy"
    client.close()
    client.close()
    assert client.health()["status"] == "healthy"
    client.close()
