"""What holds of every figure that is read."""

from itertools import combinations


def assert_labels_apart(axis, least):
    """As many labels as are needed are there; none lies on another, and small ticks have none."""
    low, high = axis.get_view_interval()
    boxes = [tick.label1.get_window_extent() for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    assert len(boxes) >= least
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert not any(tick.label1.get_text() for tick in axis.get_minor_ticks())
