import pytest

from toolorchestra.tool.search_config import SearchConfig


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"index": "x", "url": "http://y"}, "options.url: 'http://y' .* use none beside index"),
        ({"corpus": "wiki", "service": "s"}, "options.service: 's' .* use none beside corpus"),
        ({"index": ""}, "options.index: ''"),
        ({"url": "node7:8900"}, "options.url: 'node7:8900' .* begins with http://"),
        ({"url": "http://y", "encoder": "hashed"}, "options.encoder: .* the server has its own"),
        ({"allowed_key": "ids"}, "options.allowed_key: 'ids'"),
        ({"index": "x", "max_chars": 0}, "options.max_chars: 0"),
        ({"url": "http://y", "deadline_s": 0}, "options.deadline_s: 0"),
        ({"url": "http://y", "deadline_s": float("inf")}, "options.deadline_s: inf"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        SearchConfig(**options)


def test_the_threshold_is_that_of_the_wiki_there_and_none_elsewhere():
    assert SearchConfig().threshold == SearchConfig(corpus="wiki").threshold == 0.38
    assert SearchConfig(index="x").threshold == -1
    assert SearchConfig(index="x", min_score=0.1).threshold == 0.1
    assert SearchConfig().shipped == "wiki" and SearchConfig(service="s").shipped is None
