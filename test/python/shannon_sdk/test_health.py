from __future__ import annotations

from shannon import ShannonClient


def test_health_says_that_the_gateway_is_up(client: ShannonClient) -> None:
    health = client.health()
    assert health["status"] == "healthy"
    assert health["checks"]["gateway"] == "ok"


def test_readiness_says_that_every_part_answers(client: ShannonClient) -> None:
    readiness = client.readiness()
    assert readiness["status"] == "ready"
    assert set(readiness["checks"]) >= {"redis", "temporal"}


def test_get_openapi_spec_describes_the_routes_that_the_package_uses(client: ShannonClient) -> None:
    document = client.get_openapi_spec()
    assert document["openapi"].startswith("3.1")
    assert "/api/v1/tasks" in document["paths"]
