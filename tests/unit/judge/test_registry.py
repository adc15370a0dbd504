import pytest
from tests.composed import options_of
from tests.unit.judge.chat_server import KEY, chat_server
from tests.unit.judge.stand_in import RIGHT, make_config, task

from toolorchestra.judge.config import JudgeConfig
from toolorchestra.judge.match import MATCHER
from toolorchestra.judge.registry import build_judge
from toolorchestra.provider.config import ProviderConfig, ProvidersConfig
from toolorchestra.provider.providers import Providers


def test_the_default_is_the_matcher_and_needs_no_providers():
    assert build_judge(JudgeConfig(), options_of().pricing, None) is MATCHER


async def test_a_judge_speaks_to_its_provider_and_is_paid_by_the_pricing(monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    replies: list[str | int] = [500, RIGHT]
    with chat_server(lambda request: replies.pop(0)) as (url, requests):
        provider = ProviderConfig(
            base_url=url, key_env="A_KEY", models={"GPT-5": "gpt-5"}, retry_first_s=0.001
        )
        providers = Providers(ProvidersConfig(name="test", providers={"acme": provider}))
        pricing = options_of().pricing
        judge = build_judge(make_config(), pricing, providers)
        done = await judge.judge(task(), "the French capital", turn=2)
        await judge.close()
        await providers.close()
    assert (done.verdict.is_solved, done.verdict.decided_by) == (True, "judge:GPT-5")
    assert (done.bill.usage.input_tokens, done.bill.usage.output_tokens) == (100, 10)
    # $1.25 and $10 a million tokens
    assert done.bill.cost_usd == pytest.approx(100 * 1.25e-6 + 10 * 10e-6)
    assert done.bill.priced_as == ("GPT-5",)
    assert len(requests) == 2  # a fault of the server is asked again
    schema = requests[1]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["verdict"]["enum"] == ["correct", "incorrect", "not_attempted"]
