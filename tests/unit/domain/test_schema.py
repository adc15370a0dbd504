import pytest

from toolorchestra.domain.fault import BadDomain
from toolorchestra.domain.schema import parse_schema, walk_fields


def _schema(key="name", **fields):
    return {"collections": {"things": {"key": key, "fields": {"name": {"kind": "text"}, **fields}}}}


def test_what_a_schema_leaves_out_has_defaults():
    schema = parse_schema(_schema(parts={"kind": "list", "of": {"kind": "money"}}))
    parts = schema.collections["things"].fields["parts"]
    assert parts.ordered and not parts.optional and not parts.volatile
    paths = [path for path, _ in walk_fields(schema.collections["things"].fields)]
    assert paths == ["name", "parts", "parts[]"]


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ([], "expected an object"),
        ({}, "'collections' is missing"),
        ({"collections": {}}, "a schema needs a collection"),
        ({"collections": {"things": 3}}, "things: expected an object; got 3"),
        ({"collections": {"Things": _schema()["collections"]["things"]}}, "'Things' is not allow"),
        (_schema(key="id"), "the key 'id' is no field; use name"),
        (_schema(key="n", n={"kind": "money"}), "the key 'n' must be of text, reference"),
        (_schema(key="n", n={"kind": "text", "optional": True}), "always set"),
        (_schema(x={"kind": "float"}), "x.kind: expected one of text, whole, money"),
        (_schema(x={"kind": "text", "colour": "red"}), "key 'colour' is unknown"),
        (_schema(x={"kind": "choice"}), "a choice field needs 'choices'"),
        (_schema(x={"kind": "list"}), "a list field needs 'of'"),
        (_schema(x={"kind": "record"}), "a record field needs 'fields'"),
        (_schema(x={"kind": "reference"}), "a reference field needs 'to'"),
        (_schema(x={"kind": "text", "to": "things"}), "a text field takes no 'to'"),
        (_schema(x={"kind": "text", "ordered": False}), "a text field takes no 'ordered'"),
        (_schema(x={"kind": "list", "of": {"kind": "text"}, "unique": True}), "cannot be unique"),
        (_schema(x={"kind": "list", "of": {"kind": "text", "volatile": True}}), "items of a list"),
        (_schema(x={"kind": "reference", "to": "others"}), "'others', which is no collection"),
        (
            _schema(key="n", n={"kind": "text", "volatile": True}, x={
                "kind": "reference", "to": "things"}),
            "things.x refers to 'things', whose key is volatile",
        ),
    ],
)  # fmt: skip
def test_a_wrong_schema_is_refused_with_the_place(schema, reason):
    with pytest.raises(BadDomain) as caught:
        parse_schema(schema)
    assert reason in str(caught.value) and "schema" in str(caught.value)
