"""A real expert: a model behind an API that answers, or writes a search or a program to be run."""

from __future__ import annotations

from dataclasses import replace

from toolorchestra.pricing.total import total_usage
from toolorchestra.provider.base import ChatModel, Reply, Sampling
from toolorchestra.provider.fault import ProviderFault
from toolorchestra.tool.arguments import text_or_question
from toolorchestra.tool.base import CallContext, Tool
from toolorchestra.tool.config import ToolConfig
from toolorchestra.tool.expert_config import ExpertConfig
from toolorchestra.tool.expert_prompt import code_in, messages_for, query_in, without_thoughts
from toolorchestra.tool.fault_result import fault_result
from toolorchestra.types import Json, ToolResult

NO_ANSWER = "no answer"
CUT = "\n(cut here)"


class Expert:
    """A tool of the kind llm. It keeps no state between calls."""

    def __init__(
        self,
        name: str,
        config: ToolConfig,
        *,
        model: ChatModel,
        prompts: ExpertConfig,
        context: str,
        deadline_s: float,
        max_argument_chars: int,
        uses: Tool | None,
    ) -> None:
        """Sends nothing yet.

        Args:
            name: The tool's name in results.
            config: What it is: its role, above all.
            model: Who answers.
            prompts: What it is told.
            context: What of the rollout it sees, see `ToolsetConfig.context`.
            deadline_s: How long a call may take with all its attempts.
            max_argument_chars: Longest text that it is passed.
            uses: What carries out what it writes, with the roles query and code.
        """
        self._name, self._role, self._model, self._uses = name, config.role, model, uses
        self._prompts, self._context, self._deadline_s = prompts, context, deadline_s
        self._max_argument_chars = max_argument_chars
        limits = prompts.limits_of(role=config.role, model=config.priced_as)
        self._sampling = Sampling(
            max_tokens=limits.max_tokens,
            temperature=limits.temperature,
            reasoning_effort=limits.reasoning_effort,
        )

    async def call(self, arguments: Json, context: CallContext) -> ToolResult:
        """Asks the model about `question`, or about the task's where it is absent."""
        question = context.episode.task.question
        text = text_or_question(arguments, "question", question)
        if len(text) > self._max_argument_chars:
            return self._refused(context, f"{len(text):,} characters are too long a question")
        messages = messages_for(
            system=self._prompts.roles[self._role].system,
            text=text,
            question=question,
            turns=context.turns,
            context=self._context,
            max_history_chars=self._prompts.max_history_chars,
        )
        try:
            reply = await self._model.complete(
                messages, sampling=self._sampling, deadline_s=self._deadline_s
            )
        except ProviderFault as fault:
            return fault_result(fault, context=context, name=self._name)
        if self._uses is None:
            return self._answered(without_thoughts(reply.text), reply, context)
        return await self._carried_out(self._uses, reply, context)

    async def _carried_out(self, tool: Tool, reply: Reply, context: CallContext) -> ToolResult:
        """Runs what the model wrote; that it was no good is not the policy's fault."""
        text = without_thoughts(reply.text)
        argument = "query" if self._role == "query" else "code"
        written = query_in(text) if self._role == "query" else code_in(text)
        if not written:
            return self._answered("", reply, context)
        result = await tool.call({argument: written}, context)
        shown = f"{argument}: {written}\n{result.content}" if self._role == "query" else None
        return replace(
            result,
            name=self._name,
            content=self._cut(shown or result.content),
            status="abstained" if result.status == "policy_error" else result.status,
            usage=total_usage((reply.usage, result.usage)),
            latency_s=reply.latency_s + result.latency_s,
            metadata=result.metadata | _record(reply) | {"wrote": written},
        )

    def _answered(self, text: str, reply: Reply, context: CallContext) -> ToolResult:
        return ToolResult(
            call_id=context.call_id,
            name=self._name,
            content=self._cut(text) or NO_ANSWER,
            status="ok" if text else "abstained",
            usage=reply.usage,
            latency_s=reply.latency_s,
            metadata=_record(reply),
        )

    def _refused(self, context: CallContext, why: str) -> ToolResult:
        return ToolResult(
            call_id=context.call_id,
            name=self._name,
            content=f"error: {why}; use at most {self._max_argument_chars:,}",
            status="policy_error",
            metadata={"malformed": True},
        )

    def _cut(self, text: str) -> str:
        limit = self._prompts.max_reply_chars
        return text if len(text) <= limit else text[:limit] + CUT

    async def close_session(self, session: str) -> None:
        """Holds nothing; what it uses is a tool of its own, which is told itself."""

    async def close(self) -> None:
        """Holds nothing; connections are the providers'."""


def _record(reply: Reply) -> Json:
    """What a trajectory keeps of a reply beside its text."""
    kept: Json = {"num_attempts": len(reply.attempts)}
    if reply.is_cut:
        kept["is_cut"] = True
    if reply.reasoning:
        kept["reasoning"] = reply.reasoning
    return kept
