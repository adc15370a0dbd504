from toolorchestra.mcp.witness import Witness


def test_secrets_are_hidden_the_longer_ones_first():
    witness = Witness(["sesame", "sesame-1234", ""])
    assert witness.hide("sesame-1234 and sesame") == "*** and ***"


def test_a_value_too_short_to_be_a_secret_hides_nothing():
    assert Witness(["1", "true"]).hide("1 is true") == "1 is true"


def test_the_first_cause_and_the_last_words_are_told():
    witness = Witness(["sesame-1234"])
    assert witness.said() == ""
    witness.see("it ended with exit status 1")
    witness.see("the pipe is broken")
    witness.hear(b"starting\nno licence for sesame-")
    witness.hear(b"1234\n\n")
    assert witness.said() == "it ended with exit status 1; it said: no licence for ***"


def test_only_the_end_of_what_was_said_is_kept_and_little_of_it_shown():
    witness = Witness([])
    for _ in range(1000):
        witness.hear(b"x" * 1000)
    assert len(witness._stderr) == 2000
    assert witness.said() == f"it said: {'x' * 200}..."
    assert witness.excerpt("a\n  b") == "a b"
