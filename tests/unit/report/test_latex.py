from toolorchestra.report.latex import escape, latex_table
from toolorchestra.report.stats import Estimate
from toolorchestra.report.table import Table


def test_every_sign_that_means_something_to_latex_is_escaped():
    assert escape(r"50% & a_b #1 $2 {x} ~ ^ \cmd <y>") == (
        r"50\% \& a\_b \#1 \$2 \{x\} \textasciitilde{} \textasciicircum{} "
        r"\textbackslash{}cmd \textless{}y\textgreater{}"
    )
    assert escape("0.74 ± 0.03 – τ²") == r"0.74 $\pm$ 0.03 -- $\tau$\textsuperscript{2}"


def test_a_table_by_hand():
    table = Table(
        title="Share, %",
        columns=("tool", "p_1"),
        rows=(("sim/A&B", Estimate(value=0.5, low=0.4, high=0.55)), ("c", None)),
        digits={"p_1": 1},
        note="100% simulated.",
    )
    assert table.to_latex() == "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            r"\caption{Share, \%}",
            r"\begin{tabular}{lr}",
            r"\toprule",
            r"tool & p\_1 \\",
            r"\midrule",
            r"sim/A\&B & 0.5 $\pm$ 0.1 \\",
            r"c & -- \\",
            r"\bottomrule",
            r"\end{tabular}",
            "",
            r"\smallskip",
            r"\footnotesize 100\% simulated.",
            r"\end{table}",
            "",
        ]
    )


def test_a_cell_that_would_be_an_argument_of_the_line_before_is_kept_apart():
    text = latex_table(title="", columns=("a",), rows=[["[1]"], ["*"]], is_numeric=[False])
    assert "{}[1] \\\\\n{}* \\\\" in text and "footnotesize" not in text
