from toolorchestra.report.table import Table
from toolorchestra.report.written import write_table


def test_a_table_is_kept_in_three_forms_under_any_name(tmp_path):
    table = Table(title="t", columns=("a",), rows=((1.0,),))
    write_table(table, tmp_path / "seed=0.5")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "seed=0.5.md": table.to_markdown(),
        "seed=0.5.csv": table.to_csv(),
        "seed=0.5.tex": table.to_latex(),
    }
