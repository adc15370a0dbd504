import threading
from dataclasses import replace

import pytest

from toolorchestra.domain.aside import aside
from toolorchestra.domain.domain import Origin
from toolorchestra.domain.fault import DomainBug
from toolorchestra.domain.load import load_shipped


async def test_work_for_a_trusted_domain_is_done_at_once_and_for_another_in_a_thread():
    trusted = load_shipped("library")
    untrusted = replace(trusted, origin=Origin(folder="/x", digest="y", options={}))
    assert await aside(trusted, threading.get_ident) == threading.get_ident()
    assert await aside(untrusted, threading.get_ident) != threading.get_ident()


async def test_what_the_work_raises_is_raised_as_itself():
    untrusted = replace(load_shipped("library"), origin=Origin(folder="", digest="", options={}))

    def broken():
        raise DomainBug("it hangs")

    with pytest.raises(DomainBug, match="^it hangs$"):
        await aside(untrusted, broken)
