from toolorchestra.aliases import Alias, Front, Reading
from toolorchestra.toolset.front import fronts_before
from toolorchestra.toolset.front_config import AliasConfig, FrontConfig

SEARCH = FrontConfig(
    description="Looks things up.",
    argument="Who looks.",
    gives="document",
    aliases={"search-1": AliasConfig(tool="big"), "search-2": AliasConfig(tool="wiki")},
)
ANSWER = FrontConfig(
    description="Answers.",
    argument="Who answers.",
    gives="answer",
    aliases={"answer-1": AliasConfig(tool="small", max_document_chars=9, max_work_tokens=8)},
)


def test_an_episode_has_the_aliases_of_the_tools_that_it_offers():
    (search,) = fronts_before({"search": SEARCH, "answer": ANSWER}, ["wiki"])
    assert search == Front(
        name="search",
        description="Looks things up.",
        argument="Who looks.",
        gives="document",
        aliases={
            "search-2": Alias(
                tool="wiki",
                reading=Reading(
                    max_document_chars=None, max_work_tokens=40_000, max_context_tokens=120_000
                ),
            )
        },
    )


def test_fronts_keep_their_order_and_their_own_limits():
    search, answer = fronts_before({"search": SEARCH, "answer": ANSWER}, ["small", "big"])
    assert (search.name, answer.name) == ("search", "answer")
    reading = answer.aliases["answer-1"].reading
    assert (reading.max_document_chars, reading.max_work_tokens) == (9, 8)


def test_a_toolset_without_fronts_gives_episodes_without():
    assert fronts_before({}, ["big"]) == ()
