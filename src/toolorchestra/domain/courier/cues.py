"""Whole words by which a scripted customer knows what the policy wants it to do."""

from __future__ import annotations

WEIGHT = ("weigh", "weighs", "weight", "heavy", "scale", "scales")
LABEL = ("label", "parcel number", "tracking number")
PHOTO = ("photo", "photos", "photograph", "picture", "pictures")
CARD = ("card", "cards", "letterbox")
PHONE = ("phone", "code", "message")
SCREEN = ("screen", "display")
BUTTON = ("restart", "button", "press")
