import pytest
from tests.unit.chat.qwen_tokenizer import qwen_tokenizer
from transformers import PreTrainedTokenizerFast

from toolorchestra.chat.render import Renderer, builtin_template


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerFast:
    return qwen_tokenizer()


@pytest.fixture(scope="session")
def renderer(tokenizer: PreTrainedTokenizerFast) -> Renderer:
    return Renderer(tokenizer, template=builtin_template())
