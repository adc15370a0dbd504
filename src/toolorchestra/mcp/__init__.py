"""MCP servers: started or reached, asked for their tools, called, and ended."""
