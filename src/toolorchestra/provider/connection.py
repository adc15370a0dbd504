"""One provider as one event loop is connected to it: its key, limits, retries and replicas."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import TypeVar

import httpx2

from toolorchestra.endpoint.client import EndpointFault, Endpoints
from toolorchestra.endpoint.registry import Registry
from toolorchestra.provider.cassette import Cassette
from toolorchestra.provider.classify import fault_of_exception, fault_of_response
from toolorchestra.provider.config import ProviderConfig, ProvidersConfig
from toolorchestra.provider.fault import LASTING, ProviderFault, ProviderUnusable
from toolorchestra.provider.http import make_client
from toolorchestra.provider.limits import Limits
from toolorchestra.provider.retry import retried
from toolorchestra.provider.secrets import Secrets

T = TypeVar("T")

MAX_LASTING = 8
"""Faults in a row that only people can mend, after which the run ends instead of trying on."""
_WAITING_SHARE = 0.9
"""Of a deadline, before the reason why there is no replica is told."""
NO_KEY = "none"
"""Sent as a key where none is needed: client libraries insist on one."""


class Connection:
    """What all clients of one provider share."""

    def __init__(
        self,
        name: str,
        config: ProviderConfig,
        *,
        group: ProvidersConfig,
        cassette: Cassette,
        secrets: Secrets,
    ) -> None:
        """Reads the key; sends nothing yet.

        Raises:
            ValueError: The key is not set, and not all answers come from a cassette.
        """
        self.name, self.config, self.cassette = name, config, cassette
        is_live = cassette.mode != "replay"
        self.key = NO_KEY
        if config.key_env and is_live:
            self.key = secrets.read(config.key_env, wanted_by=f"provider.providers.{name}")
        self.http = make_client(config, max_reply_mb=group.max_reply_mb)
        self._limits = Limits(config)
        self._secrets, self._rng = secrets, Random()
        self._endpoints: Endpoints | None = None
        if config.registry and is_live:
            self._endpoints = Endpoints(Registry(Path(config.registry)))
        self._num_lasting = 0

    async def retried(self, attempt: Callable[[], Awaitable[T]], *, deadline_s: float) -> T:
        """Awaits `attempt()` as often as it takes; see `toolorchestra.provider.retry`.

        Raises:
            ProviderFault: It never succeeded.
            ProviderUnusable: So it was many times in a row, for reasons that people must mend.
        """
        try:
            result = await retried(
                attempt,
                deadline_s=deadline_s,
                first_s=self.config.retry_first_s,
                longest_s=self.config.retry_longest_s,
                rng=self._rng,
            )
        except ProviderFault as fault:
            self._num_lasting += fault.kind in LASTING
            if self._num_lasting >= MAX_LASTING:
                raise ProviderUnusable(
                    f"{fault} ({MAX_LASTING} times in a row); mend this, then go on with the same "
                    "command and resume=auto"
                ) from fault
            raise
        self._num_lasting = 0
        return result

    @asynccontextmanager
    async def slot(self, *, tokens: int, model: str, deadline_s: float) -> AsyncIterator[str]:
        """Waits until a request may be sent; gives the address to send it to.

        Raises:
            ProviderFault: No replica of the model is alive, or it died during the block.
        """
        async with self._limits.slot(tokens):
            if self._endpoints is None:
                yield self.config.base_url or f"http://{self.name}/v1"
                return
            try:
                wait_s = _WAITING_SHARE * deadline_s
                async with self._endpoints.using(model, deadline_s=wait_s) as endpoint:
                    try:
                        yield f"{endpoint.url}/v1"
                    except ProviderFault as fault:
                        if fault.kind == "broken":
                            self._endpoints.report_failure(endpoint)
                        raise
            except EndpointFault as error:
                raise self.fault(str(error)) from error

    def fault(self, message: str, *, of: Exception | None = None) -> ProviderFault:
        """A broken connection or an answer that cannot be read; `of`: the exception behind it."""
        if of is not None:
            return self._hidden(fault_of_exception(of, provider=self.name))
        return self._hidden(ProviderFault(f"{self.name}: {message}", kind="broken"))

    def timeout(self, limit_s: float) -> ProviderFault:
        """An answer that took too long."""
        return ProviderFault(f"{self.name}: no answer in {limit_s:g} s", kind="timeout")

    def fault_of(self, response: httpx2.Response) -> ProviderFault:
        """The fault that a response tells of."""
        return self._hidden(
            fault_of_response(
                response.status_code, response.text, response.headers, provider=self.name
            )
        )

    async def close(self) -> None:
        """Closes the connections."""
        await self.http.aclose()

    def _hidden(self, fault: ProviderFault) -> ProviderFault:
        """The same fault without keys, and without a wait that no deadline allows."""
        wait_s = fault.retry_after_s
        return ProviderFault(
            self._secrets.hide(str(fault)),
            kind=fault.kind,
            retry_after_s=wait_s if wait_s is None or math.isfinite(wait_s) else None,
        )
