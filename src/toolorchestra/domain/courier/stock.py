"""What the parcel service's records are made of: services, zones, fees, words."""

from __future__ import annotations

import datetime

TODAY = datetime.date(2033, 6, 15)  # a Wednesday
NOW = "13:20"
FEES = {
    "cut_off": "12:00",
    "cover_step_fee": "0.85",
    "business_percent": 10,
    "cancel_fee": "1.80",
    "redirect_fee": "4.50",
    "move_fee": "2.90",
    "pickup_fee": "6.20",
    "stop_fee": "1.35",
    "free_pickup_parcels": 3,
    "days_ahead": 14,
    "claim_days": 14,
    "plain_cover": "60.00",
    "identity_from": "300.00",
}

# Amounts are multiples of 0.10, so that what business customers pay is a whole cent.
SERVICES: tuple[tuple[str, int, str, str, int, str, bool, int], ...] = (
    ("economy", 5, "3.40", "0.90", 20_000, "500.00", False, 0),
    ("standard", 3, "5.20", "1.30", 30_000, "2000.00", True, 50),
    ("express", 1, "11.70", "2.60", 15_000, "5000.00", True, 100),
)
"""Name, working days, base, per kilogram, most grams, most cover, redirected, late percent."""
ZONES = (("home", "0.00", False), ("near", "3.80", False), ("far", "14.60", True))
TOWNS_PER_ZONE = {"home": 7, "near": 4, "far": 3}
CONTENTS = ("clothes", "books", "electronics", "tools", "glass", "food")
BARRED = ("glass", "food")
"""Contents that have no cover."""
GOODS = (
    "shirts", "boots", "novels", "atlases", "lamps", "radios", "drills", "chisels", "beads",
    "pepper", "tea", "scarves",
)  # fmt: skip
COVERS = ("0.00", "0.00", "80.00", "150.00", "250.00", "310.00", "350.00", "420.00")
DROP_PLACES = ("porch", "garage", "shed", "neighbour", "reception")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
COLOURS = ("blue", "green", "grey", "red", "white", "yellow", "striped", "dented", "round", "flat")
ERRORS = ("E17", "E32", "K08", "K51", "M44", "P29")
