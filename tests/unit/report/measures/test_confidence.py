import pytest

from toolorchestra.report.measures.confidence import stated_confidence


@pytest.mark.parametrize(
    ("answer", "stated"),
    [
        ("Explanation: it is\nAnswer: 4\nConfidence: 85%", 0.85),
        ("**Confidence:** 85 %", 0.85),
        ("**Confidence: 85%**", 0.85),
        (r"Confidence: $85\%$", 0.85),
        ("confidence: 85", 0.85),
        ("Confidence: 85/100", 0.85),
        ("Confidence: 85 percent, as I looked it up", 0.85),
        ("Confidence score: ~95%.", 0.95),
        ("Confidence (0-100%): 70", 0.7),
        ("Confidence = 99.5%", 0.995),
        ("Confidence: 99,5 %", 0.995),
        ("Confidence\uff1a85\uff05", 0.85),
        ("My confidence is about 60 percent.", 0.6),
        ("Confidence: 0%", 0.0),
        ("Confidence: 100%", 1.0),
    ],
)
def test_a_stated_percentage_is_read_however_it_is_written(answer, stated):
    assert stated_confidence(answer) == pytest.approx(stated)


@pytest.mark.parametrize(
    ("answer", "stated"),
    [("Confidence: 0.85", 0.85), ("Confidence: .9", 0.9), ("Confidence: 1.0", 1.0)],
)
def test_a_decimal_up_to_one_without_a_unit_is_a_share(answer, stated):
    assert stated_confidence(answer) == stated


def test_a_whole_number_is_percent_and_so_is_anything_with_a_unit():
    assert stated_confidence("Confidence: 1") == 0.01
    assert stated_confidence("Confidence: 0.5%") == 0.005


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Answer: 4",
        "Confidence: high",
        "Confidence: 85-90%",
        "Confidence: 85\u201390%",
        "Confidence: 80 to 90",
        "Confidence: 9/10",
        "Confidence: 120%",
        "Confidence: -5%",
        "<think>Confidence: 30%</think>Answer: 4",
    ],
)
def test_words_ranges_other_scales_and_thoughts_state_nothing(answer):
    assert stated_confidence(answer) is None


def test_of_several_the_last_one_counts():
    assert stated_confidence("Confidence: 10%\nOn reflection.\nConfidence: 20%") == 0.2


def test_a_confidence_on_a_line_of_its_own_is_no_part_of_the_answer():
    from toolorchestra.reward.match_extract import final_answer

    assert final_answer("Explanation: x\nAnswer: Paris\nConfidence: 85%").text == "Paris"
