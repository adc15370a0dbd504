"""Words by which a scripted customer knows what the policy wants it to do."""

from __future__ import annotations

WEIGHT = ("weigh", "weight", "heavy", "scale", "grams")
LABEL = ("label", "parcel number", "tracking number")
PHOTO = ("photo", "photograph", "picture")
CARD = ("card", "letterbox")
PHONE = ("phone", "code", "message")
SCREEN = ("screen", "display")
BUTTON = ("restart", "button")
