import os
import signal
import threading

import pytest

from toolorchestra.reward.match_math import COMPARER, MathComparer, match_math

MATCHES = [
    ("a+b", "b+a"),
    (r"\sqrt{8}", r"2\sqrt{2}"),
    ("x=5", "5"),
    ("5", "x = 5"),
    ("1/2", "0.5"),
    ("1<x<2", "(1,2)"),
    ("{1,2,3}", "{3,2,1}"),
    ("10^6", "1,000,000"),
    ("0.001", "1e-3"),
    ("7", "seven"),
    (r"\frac{1}{2}", r"so \boxed{\frac12}"),
]

MISMATCHES = [
    ("50%", "0.5"),
    ("50%", "50"),
    ("x^2", "x^3"),
    ("1/3", "0.333"),
    ("(1,2)", "(2,1)"),
    ("x+1", ""),
    ("x", "y" * 10_000_000),
]


@pytest.mark.parametrize(("gold", "answer"), MATCHES)
def test_equal_formulas_match(gold, answer):
    assert match_math(gold, answer) is True


@pytest.mark.parametrize(("gold", "answer"), MISMATCHES)
def test_unequal_formulas_do_not_match(gold, answer):
    assert match_math(gold, answer) is False


def test_threads_may_compare_at_once():
    verdicts = []
    threads = [
        threading.Thread(target=lambda: verdicts.append(match_math("a+b", "b+a"))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verdicts == [True] * 4


def test_a_comparison_without_end_is_left_undecided_and_the_next_one_works():
    comparer = MathComparer()
    assert comparer.equal("a+b", "b+a") is True
    os.kill(comparer._process.pid, signal.SIGSTOP)
    assert comparer.equal("a+b", "b+a", deadline_s=0.1) is None
    assert comparer.equal("a+b", "b+a") is True
    comparer.close()


def test_a_tower_of_powers_neither_hangs_nor_fills_the_memory():
    COMPARER.equal("a", "a")
    assert COMPARER.equal("9^{9^{9^{9}}}", "x", deadline_s=2.0) is not True


def test_a_broken_process_is_replaced():
    comparer = MathComparer()
    process = comparer._start()
    process.kill()
    process.wait()
    assert comparer.equal("a", "a") is None
    comparer.close()


@pytest.mark.parametrize(
    ("gold", "answer", "is_right"),
    [
        # the only formula of a sentence is its answer
        (r"x \geq 5", "Therefore $x >= 5$ is the solution.", True),
        (
            r"$\begin{pmatrix}1 & 0\\0 & 1\end{pmatrix}$",
            r"The matrix is \( \begin{pmatrix}1 & 0\\0 & 1\end{pmatrix} \).",
            True,
        ),
        ("x^2", "It is $x^3$, I think.", False),
        # unless the sentence denies it, or has several
        ("x^2", "It is not $x^2$.", False),
        ("x^2", "It is $x^2$ or $x^3$.", False),
        ("x^2", "It is $x^3$ or $x^2$.", False),
        # a percentage may have its sign outside
        ("28%", "$28$ %", True),
        (r"$28\%$", "$28$ percent", True),
        ("28%", "$28$", False),
        ("28", "$28$ %", False),
        # a gold answer may be a whole solution with a box
        (r"Since $2x=8$, we get $x=\boxed{4}$.", "4", True),
        (r"Since $2x=8$, we get $x=\boxed{4}$.", "8", False),
        # items may have a box each
        ("(2,2), (6,2)", r"\boxed{(2,2)} \quad \text{and} \quad \boxed{(6,2)}", True),
        ("(6,2)", r"\boxed{(2,2)} \quad \text{or} \quad \boxed{(6,2)}", False),
    ],
)
def test_formulas_are_found_in_what_stands_around_them(gold, answer, is_right):
    assert match_math(gold, answer) is is_right


def test_formulas_in_a_row_are_items_and_no_hedge_gets_through():
    assert match_math("x=1, x=2", "So $x=1$ or $x=2$.") is True
    assert match_math("x=2", "So $x=1$ or $x=2$.") is False
