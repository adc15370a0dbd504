"""What the clinic's records are made of: services, equipment, substances, rules."""

from __future__ import annotations

import datetime

TODAY = datetime.date(2032, 3, 9)  # a Tuesday
NOW = "10:00"
DAYS_AHEAD = 14
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
SUBSTANCES = (
    "penicillin", "iodine", "lactose", "latex", "codeine", "aspirin", "sulfite", "gelatin",
)  # fmt: skip

# Prices are multiples of 0.10 and covers of 10 per cent, so that every share is a whole cent.
COVERS = {"none": 0, "basic": 50, "standard": 70, "full": 90}
SERVICES: tuple[tuple[str, int, str, str | None, list[str]], ...] = (
    ("check-up", 30, "48.60", "general", []),
    ("vaccination", 30, "31.20", "general", ["fridge"]),
    ("blood test", 30, "57.90", "general", ["fridge", "centrifuge"]),
    ("skin screening", 30, "66.40", "skin", ["lamp"]),
    ("mole removal", 60, "148.70", "skin", ["lamp", "table"]),
    ("heart scan", 60, "172.30", "heart", ["ultrasound"]),
    ("stress test", 90, "210.10", "heart", ["treadmill"]),
    ("joint injection", 60, "126.80", "joints", ["ultrasound", "table"]),
    ("physiotherapy", 60, "74.50", "joints", ["table"]),
    ("follow-up visit", 30, "39.30", None, []),
)
"""Name, minutes, price, specialty and equipment."""
ROOMS: tuple[list[str], ...] = (
    ["fridge"],
    ["fridge", "centrifuge"],
    ["lamp", "table"],
    ["lamp", "table", "ultrasound"],
    ["treadmill", "ultrasound"],
    ["table", "fridge", "centrifuge"],
    ["ultrasound", "treadmill", "table"],
)
SPECIALTIES = (
    ["general"], ["general", "heart"], ["skin"], ["skin", "general"], ["heart"],
    ["heart", "joints"], ["joints"], ["joints", "general"], ["general"], ["skin", "heart"],
)  # fmt: skip
"""Of each doctor."""
HOURS = (("09:00", "13:00"), ("09:00", "15:00"), ("13:00", "17:30"), ("10:30", "16:30"))
