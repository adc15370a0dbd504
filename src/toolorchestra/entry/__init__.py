"""How a command begins and ends: its folder and its code, how it is stopped, what it says."""
