"""How the templates word each wish, and how strongly it is meant.

Those for evaluation are other sentences, not the same ones about other tools. A strength is the
weight in P: 1 for a demand, 0.5 for a leaning, 0 for what the user says not to mind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolorchestra.preference.table import Split

Wording = tuple[str, float]
Wordings = Mapping[Split, Sequence[Wording]]

COST: Wordings = {
    "train": (
        ("Spend as little as you can.", 1.0),
        ("I pay for this myself, so every cent counts.", 1.0),
        ("Go for the lowest price.", 1.0),
        ("The budget is almost gone: use the cheapest way.", 1.0),
        ("Please do not run up a bill.", 1.0),
        ("Low cost is what I look for.", 1.0),
        ("Save some money where it is easy.", 0.5),
        ("Mind the price a little.", 0.5),
        ("A fair price is fine, a high one is not.", 0.5),
        ("Try to be somewhat economical.", 0.5),
        ("Money is no object.", 0.0),
        ("I do not care what it costs.", 0.0),
    ),
    "eval": (
        ("Keep expenses at a minimum.", 1.0),
        ("We are on a shoestring here.", 1.0),
        ("Pick whatever charges least.", 1.0),
        ("Be a bit thrifty.", 0.5),
        ("Whatever the bill comes to is all right.", 0.0),
    ),
}

LATENCY: Wordings = {
    "train": (
        ("I need this right now.", 1.0),
        ("Answer as quickly as you can.", 1.0),
        ("No waiting, please.", 1.0),
        ("My meeting starts in a minute, so hurry.", 1.0),
        ("The shortest wait wins.", 1.0),
        ("Every second counts.", 1.0),
        ("Do not take too long.", 0.5),
        ("Sooner is nicer than later.", 0.5),
        ("A short wait is all right, a long one is not.", 0.5),
        ("Be fairly quick about it.", 0.5),
        ("Take all the time you want.", 0.0),
        ("There is no rush at all.", 0.0),
    ),
    "eval": (
        ("This is urgent.", 1.0),
        ("Get back to me at once.", 1.0),
        ("Pick whatever responds soonest.", 1.0),
        ("Try not to dawdle.", 0.5),
        ("It may run overnight for all I care.", 0.0),
    ),
}

PRIVACY: Wordings = {
    "train": (
        ("Keep my data on this machine.", 1.0),
        ("Nothing of this may leave the house.", 1.0),
        ("This is confidential: use local tools.", 1.0),
        ("Do not send my question to any outside service.", 1.0),
        ("Work offline as far as you can.", 1.0),
        ("My privacy comes first.", 1.0),
        ("I would rather not share this with strangers.", 0.5),
        ("Local tools are better, if they will do.", 0.5),
        ("Be careful with what you send out.", 0.5),
        ("Remote services only where nothing else helps.", 0.5),
    ),
    "eval": (
        ("Let no third party see this.", 1.0),
        ("Treat this as secret and stay in house.", 1.0),
        ("Avoid the cloud.", 1.0),
        ("I am a little wary of online services.", 0.5),
    ),
}

LIKE_VENDOR: Wordings = {
    "train": (
        ("Use {family} models.", 1.0),
        ("I trust {family} more than the rest.", 1.0),
        ("Our contract covers {family} only.", 1.0),
        ("Let {family} do the work.", 1.0),
        ("I have a soft spot for {family} models.", 0.5),
        ("If it makes no difference, take {family}.", 0.5),
    ),
    "eval": (
        ("Stick to the {family} family.", 1.0),
        ("Anything by {family} suits me best.", 1.0),
        ("I lean towards {family}.", 0.5),
    ),
}

DISLIKE_VENDOR: Wordings = {
    "train": (
        ("No {family} models, please.", 1.0),
        ("We are not allowed to use {family}.", 1.0),
        ("I do not trust {family}.", 1.0),
        ("Anything but {family}.", 1.0),
        ("I am not fond of {family} models.", 0.5),
        ("If there is a choice, leave {family} out.", 0.5),
    ),
    "eval": (
        ("Stay away from the {family} family.", 1.0),
        ("{family} is banned here.", 1.0),
        ("I lean away from {family}.", 0.5),
    ),
}

LIKE: Wordings = {
    "train": (
        ("Use {tool} whenever you can.", 1.0),
        ("I want {tool} to do this.", 1.0),
        ("Call {tool} before anything else.", 1.0),
        ("{tool} has served me well, so take it.", 1.0),
        ("Have {tool} check every step.", 1.0),
        ("{tool} would be nice, but is no must.", 0.5),
        ("Where two would do, take {tool}.", 0.5),
        ("I have a slight liking for {tool}.", 0.5),
    ),
    "eval": (
        ("Make {tool} your main helper.", 1.0),
        ("Nothing beats {tool} in my eyes.", 1.0),
        ("Consult {tool} as often as it helps.", 1.0),
        ("Given equal odds, favour {tool}.", 0.5),
    ),
}

DISLIKE: Wordings = {
    "train": (
        ("Do not use {tool}.", 1.0),
        ("Leave {tool} alone.", 1.0),
        ("{tool} has let me down before: choose another.", 1.0),
        ("I never want to see {tool} called.", 1.0),
        ("Anything but {tool}, please.", 1.0),
        ("{tool} only if you must.", 0.5),
        ("I would rather not have {tool} in this.", 0.5),
        ("I am not too keen on {tool}.", 0.5),
    ),
    "eval": (
        ("Steer clear of {tool}.", 1.0),
        ("{tool} is off limits.", 1.0),
        ("Find a way around {tool}.", 1.0),
        ("{tool} is my last choice.", 0.5),
    ),
}

JOINTS: Mapping[Split, Sequence[str]] = {
    "train": (
        "{first} {second}",
        "{first} And one more thing: {second}",
        "Two wishes: {first} {second}",
    ),
    "eval": ("{first} Besides: {second}", "Note both points. {first} {second}"),
}
"""How two wishes make a combination."""
