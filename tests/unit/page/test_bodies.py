import json

from tests.unit.page.made_up import episode, evaluated, trained

from toolorchestra.page.bodies import MOST_ROLLOUTS, Bodies
from toolorchestra.page.tokens import Pieces

NO_TOKENS = Pieces(None)


def test_trajectories_come_back_by_chunk_and_place():
    chunks = []
    bodies = Bodies(chunks.append)
    places = [
        bodies.add(trained(step, episode=episode(id=f"e{step // 8}")), NO_TOKENS)
        for step in range(MOST_ROLLOUTS + 1)
    ]
    bodies.flush()
    assert places[-2:] == [(0, MOST_ROLLOUTS - 1), (1, 0)]
    first, second = map(json.loads, chunks)
    assert len(first["rollouts"]) == MOST_ROLLOUTS and len(second["rollouts"]) == 1
    # an episode is written once a chunk
    assert [item["id"] for item in first["episodes"]] == [f"e{i}" for i in range(8)]
    assert second["episodes"][second["rollouts"][0]["episode"]]["id"] == "e8"


def test_equal_ids_of_two_runs_stay_two_episodes():
    chunks = []
    bodies = Bodies(chunks.append)
    for question in ("one?", "another?"):
        bodies.add(evaluated(episode=episode(question=question)), NO_TOKENS)
    bodies.flush()
    assert len(json.loads(chunks[0])["episodes"]) == 2


def test_a_body_has_what_was_logged_but_no_token_ids():
    chunks = []
    bodies = Bodies(chunks.append)
    bodies.add(trained(0), NO_TOKENS)
    bodies.flush()
    [body] = json.loads(chunks[0])["rollouts"]
    assert body["score"] == {"reward": 0.75, "terms": {"outcome": 1.0, "cost": -0.25}}
    assert body["verdict"]["reason"] == "equal"
    assert body["turns"][0]["results"][0]["content"] == "It is 4."
    assert "completion_ids" not in body["turns"][0] and "rows" not in body
