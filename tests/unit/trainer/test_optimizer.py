import pytest
import torch

from toolorchestra.trainer.config import TrainerConfig
from toolorchestra.trainer.optimizer import make_optimizer


def stepped(kind):
    torch.manual_seed(0)
    layer = torch.nn.Linear(5, 3)
    options = TrainerConfig(optimizer=kind, learning_rate=0.1, weight_decay=0.01)
    optimizer = make_optimizer(layer.parameters(), options)
    for _ in range(3):
        optimizer.zero_grad()
        layer(torch.ones(5)).square().sum().backward()
        optimizer.step()
    return layer.weight.detach()


def test_one_kernel_for_all_weights_does_what_single_steps_do():
    assert torch.allclose(stepped("adamw"), stepped("adamw_fused"), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kind", ["adamw", "adamw_fused"])
def test_weights_that_are_not_trained_get_no_state(kind):
    layer = torch.nn.Linear(5, 3)
    layer.bias.requires_grad_(False)
    optimizer = make_optimizer(layer.parameters(), TrainerConfig(optimizer=kind))
    assert [len(group["params"]) for group in optimizer.param_groups] == [1]
