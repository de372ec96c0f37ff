"""Lines of ranks that are threads of this process: the carrier of messages in tests."""

from functools import reduce
from threading import Barrier

import numpy as np

OPERATIONS = {"sum": np.add, "or": np.bitwise_or, "xor": np.bitwise_xor, "least": np.minimum}


class ThreadLine:
    """As `lagbc.grid.communicator.Line`; threads share memory."""

    def __init__(self, rank, meeting):
        self.size, self.rank, self.sent, self._meeting = meeting.size, rank, 0, meeting

    def exchange(self, messages):
        yield lambda: None
        self.sent += sum(len(message) for to, message in enumerate(messages) if to != self.rank)
        return [given[self.rank] for given in self._meeting.of_all(self.rank, messages)]

    def combine(self, numbers, operation):
        return reduce(OPERATIONS[operation], self._meeting.of_all(self.rank, numbers.copy()))

    def split(self, color):
        colors = self._meeting.of_all(self.rank, color)
        mates = [rank for rank, other in enumerate(colors) if other == color]
        meeting = Meeting(len(mates), self._meeting) if self.rank == mates[0] else None
        meetings = self._meeting.of_all(self.rank, meeting)
        return ThreadLine(mates.index(self.rank), meetings[mates[0]])

    def abort(self, error):
        self._meeting.abort()

    def close(self):
        pass


class Meeting:
    """Where the threads of a line meet; when it is aborted, none waits, here or in the lines beside."""

    def __init__(self, size, beside=None):
        self.size = size
        self._barrier, self._said = Barrier(size), [None] * size
        self._all = [] if beside is None else beside._all
        self._all.append(self)

    def of_all(self, rank, said):
        self._said[rank] = said
        self._barrier.wait()
        heard = [*self._said]
        self._barrier.wait()
        return heard

    def abort(self):
        for meeting in self._all:
            meeting._barrier.abort()


def line_of_threads(size):
    """Make a line of as many threads, as each of them has it."""
    meeting = Meeting(size)
    return [ThreadLine(rank, meeting) for rank in range(size)]
