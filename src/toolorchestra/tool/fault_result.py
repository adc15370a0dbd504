"""A provider's fault as the result of a call."""

from __future__ import annotations

from toolorchestra.provider.fault import OF_INPUT, ProviderFault
from toolorchestra.tool.base import CallContext
from toolorchestra.types import ToolResult


def fault_result(fault: ProviderFault, *, context: CallContext, name: str) -> ToolResult:
    """What a tool gives back when its provider fails.

    What was asked may be the fault (too long, not allowed): then the call was impossible, which is
    the policy's fault. All else voids the rollout.
    """
    return ToolResult(
        call_id=context.call_id,
        name=name,
        content=f"error: {fault}",
        status="policy_error" if fault.kind in OF_INPUT else "provider_error",
        usage=fault.usage,
        metadata={"fault": fault.kind},
    )
