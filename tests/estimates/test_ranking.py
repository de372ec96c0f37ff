"""The highest of some scores."""

import numpy as np

from lagbc.estimates.aim import gap, highest


def test_of_equal_scores_the_first_are_the_highest():
    scores = np.array([0.1, 0.5, 0.5, 0.9, 0.5])
    assert highest(scores, 3).tolist() == [False, True, True, True, False]
    assert highest(scores, 5).all()


def test_the_gap_is_between_the_least_of_the_highest_and_the_others():
    scores = np.array([0.1, 0.5, 0.8])
    assert gap(scores, scores - 0.05, scores + 0.1, 2) == 0.2 - 0.45
    assert gap(scores, scores, scores, 3) == 0
