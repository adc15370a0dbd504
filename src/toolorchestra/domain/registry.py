"""The domains and what their functions are called: a new function is one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from toolorchestra.domain.parcels import track_parcel

DomainFunction = Callable[[str], str | None]
"""Takes a text that names what is asked for; gives the answer, or None where it knows none."""

DOMAINS: Mapping[str, Mapping[str, DomainFunction]] = {
    "parcels": {"track_parcel": track_parcel},
}


def find_function(domain: str, function: str) -> DomainFunction:
    """The function of that name.

    Raises:
        ValueError: there is no such domain or function; the message lists what exists.
    """
    if domain not in DOMAINS:
        raise ValueError(
            f"tool.options.domain: {domain!r} is not allowed; use {', '.join(DOMAINS)}"
        )
    functions = DOMAINS[domain]
    if function not in functions:
        raise ValueError(
            f"tool.options.function: {function!r} is not allowed for the domain {domain}; "
            f"use {', '.join(functions)}"
        )
    return functions[function]
