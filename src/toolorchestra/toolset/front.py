"""The fronts of one episode: those of the toolset, before the tools that the episode offers."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from toolorchestra.aliases import Alias, Front, Gives, Reading
from toolorchestra.toolset.front_config import AliasConfig, FrontConfig

_GIVES: Mapping[str, Gives] = {"document": "document", "code": "code", "answer": "answer"}


def fronts_before(fronts: Mapping[str, FrontConfig], offered: Collection[str]) -> tuple[Front, ...]:
    """Resolves aliases to tools for one episode.

    Args:
        fronts: Those of the toolset, checked.
        offered: Names of the episode's tools.

    Returns:
        The fronts in their order, each with the aliases of offered tools; those without any left
        are gone.
    """
    found = [
        Front(
            name=name,
            description=front.description,
            argument=front.argument,
            gives=_GIVES[front.gives],
            aliases={
                alias: _alias(options)
                for alias, options in front.aliases.items()
                if options.tool in offered
            },
        )
        for name, front in fronts.items()
    ]
    return tuple(front for front in found if front.aliases)


def _alias(options: AliasConfig) -> Alias:
    return Alias(
        tool=options.tool,
        reading=Reading(
            max_document_chars=options.max_document_chars,
            max_work_tokens=options.max_work_tokens,
            max_context_tokens=options.max_context_tokens,
        ),
    )
