"""What can be called: the interface that every tool shares, and each kind of tool."""
