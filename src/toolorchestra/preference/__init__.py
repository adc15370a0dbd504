"""What the user wants: an instruction in words and the vector that it means."""
