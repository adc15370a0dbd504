import pytest
import torch
from tests.unit.engine.tiny_model import full_logits, make_engine, make_request
from transformers import Qwen2Config, Qwen2ForCausalLM

from toolorchestra.engine.decode import Row, Session


def kept(ids, prompt_ids, *, computed_by=3, version=3):
    session = Session(slot=0, version=computed_by, ids=list(ids))
    session.keep(tuple(prompt_ids), version)
    assert session.version == version
    return session.ids


def test_a_longer_prompt_keeps_all_that_it_begins_with():
    assert kept([1, 2, 3], [1, 2, 3, 4]) == [1, 2, 3]


def test_the_last_prompt_token_is_always_computed_anew():
    assert kept([1, 2, 3], [1, 2, 3]) == [1, 2]
    assert kept([1, 2, 3], [1]) == []


def test_a_rewritten_history_keeps_the_common_prefix_only():
    assert kept([1, 2, 3, 4], [1, 2, 9, 4, 5]) == [1, 2]
    assert kept([1, 2], [8, 2, 3]) == []


@pytest.mark.parametrize("version", [2, 4])
def test_other_weights_keep_nothing(version):
    assert kept([1, 2, 3], [1, 2, 3, 4], version=version) == []


def test_a_new_session_keeps_nothing_of_a_shared_beginning():
    row = Row(request=make_request([1, 2, 3]), session=Session(slot=0))
    row.session.keep(row.request.prompt_ids, 0)
    assert (row.num_new, row.position) == (3, 2)


def test_a_model_with_sliding_windows_is_refused():
    config = Qwen2Config(
        vocab_size=32,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        use_sliding_window=True,
        max_window_layers=1,
    )
    with pytest.raises(ValueError, match="sliding_attention are not allowed"):
        make_engine(Qwen2ForCausalLM(config))


@pytest.mark.parametrize("prefill_tokens", [1, 7, 10_000])
def test_how_prompts_are_batched_changes_no_logits(prefill_tokens):
    decoder = make_engine(prefill_tokens=prefill_tokens)._decoder
    prompts = [[5] * 9, [6, 7], [8, 9, 10, 11, 12], [5] * 9, [3] * 20]
    rows = [
        Row(request=make_request(prompt, max_tokens=1), session=Session(slot=7 - slot))
        for slot, prompt in enumerate(prompts)
    ]
    with torch.inference_mode():
        logits = decoder._prefill(rows)
    wanted = torch.stack([full_logits(prompt)[-1] for prompt in prompts])
    torch.testing.assert_close(logits, wanted, atol=1e-4, rtol=1e-4)
    assert decoder.num_prefilled == 9 + 2 + 5 + 20  # the prompt that two share counts once
