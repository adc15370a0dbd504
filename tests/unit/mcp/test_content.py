import base64

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from toolorchestra.mcp.content import cut, text_of


def text(words):
    return TextContent(type="text", text=words)


def read(*blocks, structured=None):
    return text_of(CallToolResult(content=list(blocks), structured_content=structured))


def test_texts_stand_below_one_another_and_blank_ones_are_left_out():
    assert read(text("one"), text("  "), text("two\nlines")) == "one\ntwo\nlines"


def test_what_is_no_text_is_told_with_its_kind_and_size():
    data = base64.b64encode(b"12345").decode()
    image = ImageContent(type="image", data=data, mime_type="image/png")
    audio = AudioContent(type="audio", data=data, mime_type="audio/wav")
    link = ResourceLink(type="resource_link", uri="file:///a.txt", name="a.txt")
    assert read(text("see"), image, audio, link).splitlines() == [
        "see",
        "[image: image/png, 5 bytes]",
        "[audio: audio/wav, 5 bytes]",
        "[resource: file:///a.txt a.txt]",
    ]


def test_an_embedded_text_is_read_and_other_embedded_things_are_told():
    blob = base64.b64encode(b"123").decode()
    page = TextResourceContents(uri="file:///a.txt", text="the page")
    thing = BlobResourceContents(uri="file:///b.bin", blob=blob)
    both = (EmbeddedResource(type="resource", resource=held) for held in (page, thing))
    assert read(*both) == "the page\n[resource: file:///b.bin, unknown type, 3 bytes]"


def test_structured_content_is_shown_only_where_there_is_no_text():
    assert read(structured={"a": "é"}) == '{"a": "é"}'
    assert read(text("a is é"), structured={"a": "é"}) == "a is é"
    assert read(structured=[]) == "[]"


def test_nothing_is_an_empty_text():
    assert read() == "" and read(text("")) == ""


def test_half_a_surrogate_pair_is_replaced():
    assert read(text("a\ud800b")) == "a?b"


def test_a_long_text_is_cut_and_says_so():
    assert cut("12345", 5) == "12345"
    assert cut("123456", 5) == "12345\n[cut: 5 of 6 characters]"
