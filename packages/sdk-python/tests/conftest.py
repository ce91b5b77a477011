from __future__ import annotations

import pytest
from faces import FACES, Face


@pytest.fixture(params=FACES, ids=lambda face: str(face.__name__))
def face(request: pytest.FixtureRequest) -> Face:
    chosen: Face = request.param
    return chosen
