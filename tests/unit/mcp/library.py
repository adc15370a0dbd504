"""A real MCP server over stdio, made with the `mcp` package."""

from __future__ import annotations

import os

from mcp.server.mcpserver import Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("library")
BOOKS = {"moby dick": "Herman Melville", "emma": "Jane Austen"}


@server.tool(name="find.author", structured_output=False)
def find_author(title: str, max_results: int = 3) -> str:
    """Finds an author."""
    return BOOKS.get(title.lower(), "")[: 100 * max_results]


@server.tool()
def borrow(title: str) -> dict[str, object]:
    """Borrows a book."""
    if title.lower() not in BOOKS:
        raise ToolError(f"there is no book {title}; the books are {', '.join(BOOKS)}")
    return {"title": title, "days": 14}


@server.tool(structured_output=False)
def cover() -> list[object]:
    """Shows a cover."""
    return ["The cover:", Image(data=b"12345", format="png")]


@server.tool(structured_output=False)
def tell_secret() -> str:
    """Tells what it should not, and what it was not given."""
    return f"the key is {os.environ.get('LIBRARY_KEY')}, not {os.environ.get('OTHER_KEY')}"


if __name__ == "__main__":
    server.run("stdio")
