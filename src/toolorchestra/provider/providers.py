"""All providers of a run: who serves a model, and its client."""

from __future__ import annotations

from toolorchestra.provider.base import ChatModel
from toolorchestra.provider.cassette import Cassette
from toolorchestra.provider.config import MODEL_APIS, ProviderConfig, ProvidersConfig
from toolorchestra.provider.connection import Connection


class Providers:
    """Makes clients, all of one event loop; connects only to what is asked for."""

    def __init__(self, config: ProvidersConfig, cassette: Cassette | None = None) -> None:
        """Asks nobody yet.

        Args:
            config: Who serves what.
            cassette: That of the run; None: opens its own.

        Raises:
            ValueError: The cassette cannot be used.
        """
        self.config = config
        self.cassette = cassette or Cassette(config.cassette)
        self.secrets = self.cassette.secrets
        self._connections: dict[str, Connection] = {}

    def model(self, name: str, *, wanted_by: str) -> ChatModel:
        """The client of a model.

        Args:
            name: The model's name in the pricing schedules.
            wanted_by: Who needs it, for errors.

        Raises:
            ValueError: Nobody serves it, or its provider's key is not set.
        """
        connection, model = self._serving(name, wanted_by=wanted_by)
        if connection.config.api not in MODEL_APIS:
            raise ValueError(
                f"provider.providers.{connection.name}.api: {connection.config.api} is not "
                f"allowed for {wanted_by}, as {name} is a model; use {' or '.join(MODEL_APIS)}"
            )
        return _client(connection, model)

    def client(self, provider: str, model: str) -> ChatModel:
        """The client of a provider that is there, by the provider's own id of the model.

        Raises:
            ValueError: Its key is not set.
        """
        return _client(self._connected(provider, self.config.providers[provider]), model)

    def connection(self, name: str, *, wanted_by: str) -> tuple[Connection, str]:
        """Who serves a search, by its name in the pricing schedules, and what it calls it.

        Raises:
            ValueError: Nobody serves it, or its provider's key is not set.
        """
        return self._serving(name, wanted_by=wanted_by)

    def _serving(self, name: str, *, wanted_by: str) -> tuple[Connection, str]:
        found = self.config.serving(name)
        if found is None:
            served = sorted({m for p in self.config.providers.values() for m in p.models})
            raise ValueError(
                f"provider.providers: none serves {name!r}, which {wanted_by} needs; add it to "
                f"one's models (served are {', '.join(served) or 'none'}), or use "
                "toolset.experts=simulated"
            )
        provider, config = found
        return self._connected(provider, config), config.models[name]

    def _connected(self, provider: str, config: ProviderConfig) -> Connection:
        if provider not in self._connections:
            self._connections[provider] = Connection(
                provider, config, group=self.config, cassette=self.cassette, secrets=self.secrets
            )
        return self._connections[provider]

    async def close(self) -> None:
        """Closes all connections."""
        for connection in self._connections.values():
            await connection.close()


def _client(connection: Connection, model: str) -> ChatModel:
    # not at the top: openai takes seconds to load, and most runs ask nobody
    from toolorchestra.provider.chat import ChatClient

    return ChatClient(connection, model)
