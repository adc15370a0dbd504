import pytest

from toolorchestra.model.config import ApiConfig, ModelConfig


def test_the_default_is_the_policy_that_ships_with_the_project():
    assert ModelConfig().path == "tiny"


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"dtype": "float16"}, "model.dtype: 'float16' is not allowed; use float32 or bfloat16"),
        ({"protocol": "mcp"}, "model.protocol: 'mcp' is not allowed; use chat or upstream"),
        ({"tool_style": "xml"}, "model.tool_style: 'xml' is not allowed; use full or compact"),
        ({"template": "mine"}, "model.template: 'mine' is not allowed; use own or qwen3"),
        ({"max_context": 8}, "model.max_context: 8 is not allowed; use at least 16"),
        (
            {"max_context": 100, "max_new_tokens": 101},
            r"model.max_new_tokens: 101 is not allowed; use 1 to 100 \(model.max_context\)",
        ),
        ({"max_new_tokens": 0}, "model.max_new_tokens: 0 is not allowed"),
        ({"path": ""}, "model.path: '' is not allowed"),
    ],
)
def test_what_is_not_allowed_is_refused_with_what_is(changes, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        ModelConfig(**changes)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"provider": ""}, "model.api.provider: '' is not allowed; name one of the providers"),
        ({"temperature": 3.0}, "model.api.temperature: 3.0 is not allowed; use 0 to 2, or null"),
    ],
)
def test_an_api_that_cannot_be_asked_so_is_refused(changes, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        ApiConfig(**({"provider": "mine"} | changes))


def test_an_api_holds_a_chat_alone():
    with pytest.raises(ValueError, match="'upstream' is not allowed with model.api; use chat"):
        ModelConfig(api=ApiConfig(provider="mine"), protocol="upstream")
