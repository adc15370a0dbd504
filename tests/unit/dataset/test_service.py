import random

from toolorchestra.dataset.service import draw_parcel
from toolorchestra.domain.parcels import track_parcel


def test_the_domain_s_function_answers_every_question():
    rng = random.Random(0)
    for _ in range(300):
        draft = draw_parcel(rng)
        assert track_parcel(draft.question) == draft.answer
        assert draft.answer not in draft.question
