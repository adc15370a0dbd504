"""How the policy is spoken to: in which tokens, and in which kind of conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from transformers import PreTrainedTokenizerBase

from toolorchestra.chat.config import UpstreamConfig
from toolorchestra.chat.render import Renderer
from toolorchestra.rollout.chat import Chat
from toolorchestra.rollout.native import Native
from toolorchestra.rollout.protocol import Conversation
from toolorchestra.rollout.upstream import Upstream


@dataclass(frozen=True, kw_only=True, slots=True)
class Speaker:
    """A tokenizer, a template, a system prompt, and what is said between them."""

    tokenizer: PreTrainedTokenizerBase
    renderer: Renderer
    system_prompt: str
    tool_style: str
    """How a chat shows tools."""
    upstream: UpstreamConfig | None = None
    """The words of the original ToolOrchestra's prompt; None: a growing chat."""
    is_native: bool = False
    """Whether a model behind an API is spoken to, in messages; scripted policies beside it speak in
    the tokens here."""

    def conversation(self) -> Conversation:
        """The kind of conversation that this speaker holds."""
        if self.is_native:
            return Native()
        if self.upstream is None:
            return Chat(self.renderer, system_prompt=self.system_prompt, tool_style=self.tool_style)
        return Upstream(
            self.renderer, self.tokenizer, system_prompt=self.system_prompt, words=self.upstream
        )

    def chatting(self) -> Speaker:
        """The same in a growing chat, as scripted policies speak whatever the model does."""
        return replace(self, upstream=None, is_native=False)

    def text(self, ids: Sequence[int]) -> str:
        """Text of ids as it is; what is no UTF-8 becomes U+FFFD."""
        text = self.tokenizer.decode(list(ids), clean_up_tokenization_spaces=False)
        assert isinstance(text, str)
        return text
