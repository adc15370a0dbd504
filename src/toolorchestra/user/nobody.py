"""No user: the question says all, and the first message that calls nothing answers it."""

from __future__ import annotations

from collections.abc import Sequence

from toolorchestra.types import Episode, Turn
from toolorchestra.user.protocol import Opening, UserReply

SILENCE = UserReply(message=None)
"""Where nobody is there to answer."""


class Nobody:
    """Speaks for no user; see `User`."""

    async def opened(self, episode: Episode) -> Opening:
        """The episode as it is."""
        return Opening(episode=episode)

    async def reply(self, episode: Episode, turns: Sequence[Turn], *, session: str) -> UserReply:
        """Nothing."""
        return SILENCE


NOBODY = Nobody()
"""It has no state: one serves all."""
