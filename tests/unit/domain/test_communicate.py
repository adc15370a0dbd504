import pytest

from toolorchestra.domain.communicate import is_said, unsaid

_SAID = [
    ("4", "You have 4 bags."),
    ("4", "Four bags are yours."),
    ("4", "It is 2.50; you have four loans."),
    ("3", "**3** loans"),
    ("Ann Lee", "*Ann* **Lee**"),
    ("4", "You have 42, four of them late."),
    ("42", "You have 42, four of them late."),
    ("2500000", "2.5 million"),
    ("1", "You have one loan."),
    ("21", "twenty-one days"),
    ("6", "Rooms 4, 5 and 6."),
    ("4", "Rooms 4, 5 and 6."),
    ("12", "in 10-12 days"),
    ("2", "on 2 May"),
    ("-4", "It is −4 degrees."),
    ("1628", "it costs 1,628."),
    ("1628", "it costs 1 628 in all"),
    ("1628", "it costs 1 628"),
    ("1628", "it costs 1\u202f628"),
    ("1628", "it costs 1'628"),
    ("1628", "$1,628.00"),
    ("1,628", "1628"),
    ("1628", "one thousand six hundred twenty-eight"),
    ("1000000", "1 million"),
    ("327.5", "327.50"),
    ("12.5", "12,5"),
    ("0.5", ".5"),
    ("10.00", "It is 10"),
    ("5%", "5 percent"),
    ("2031-05-04", "due 2031-05-04."),
    ("2031-05-04", "on 4 May 2031."),
    ("2031-05-04", "May 4th, 2031"),
    ("Ann Lee", "it is ann\n LEE's"),
    ("M012", "member M012."),
    ("09:30", "at 9:30."),
    ("09:30", "at 09:30 a.m. in room 4"),
    ("14:30", "at 2:30 PM"),
    ("14:30", "14:30-15:30"),
    ("12:30", "12:30pm"),
    ("00:30", "12:30 am"),
]
_UNSAID = [
    ("09:30", "at 9:30 pm"),
    ("09:30", "at 19:30"),
    ("09:30", "09:300"),
    ("09:30", "08:30-09:30"),
    ("14:30", "at 2:30"),
    ("14:30", "2:30 a.m."),
    ("12:30", "12:30 am"),
    ("02:30", "12:30"),
    ("4", "42 bags"),
    ("10", "#W1041"),
    ("10", "order # 10"),
    ("327", "327.5"),
    ("628", "1,628"),
    ("1", "1,628"),
    ("1628", "16280"),
    ("1628", "1,628,000"),
    ("4", "10:04"),
    ("4", "2031-05-04"),
    ("4", "B-4"),
    ("4", "4%"),
    ("4", "-4"),
    ("4", "4th floor"),
    ("4", "4 hundred"),
    ("4", "forty-four"),
    ("40", "forty-two"),
    ("1", "no one"),
    ("1", "one of them"),
    ("2", "2/3"),
    ("1", "½"),
    ("23", "2*3"),
    ("1000000", "2.5 million"),
    ("100", "4 hundred"),
    ("5", "version 1.5.2"),
    ("5", "0.5"),
    ("978", "978-3-16"),
    ("Ann", "Anna"),
    ("M012", "M0123"),
    ("2031-05-04", "2031-05-040"),
    ("2031-05-04", "14 May 2031"),
    ("2031-05-04", "4 June 2031"),
    ("Room 4", "Room 4.5"),
    ("4", ""),
]


@pytest.mark.parametrize(("wanted", "message"), _SAID)
def test_what_was_said_in_another_form_counts(wanted, message):
    assert is_said(wanted, message)


@pytest.mark.parametrize(("wanted", "message"), _UNSAID)
def test_what_only_looks_like_it_does_not_count(wanted, message):
    assert not is_said(wanted, message)


def test_each_thing_may_be_said_in_a_message_of_its_own():
    assert unsaid(["4", "Sarn"], ["It is 4.", "It lies in Sarn."]) == ()
    assert unsaid(["4", "Sarn", "5"], ["It is 4."]) == ("Sarn", "5")


def test_a_number_is_not_put_together_from_two_messages():
    assert unsaid(["1628"], ["1", "628"]) == ("1628",)


@pytest.mark.parametrize(
    "piece", ["a", "1", "1 ", "1,", "1-", "a-", "#", "$", "one ", "million ", "*", "a1", "1.1:"]
)
@pytest.mark.parametrize("wanted", ["4", "2031-05-04", "09:30", "Ann Lee"])
def test_a_message_without_end_is_read_and_does_not_count(wanted, piece):
    assert not is_said(wanted, piece * 20_000)
