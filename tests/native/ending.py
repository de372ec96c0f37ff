"""A program that ends while daemon threads are in kernels, and want the GIL back once Python gives it to none."""

import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from strategies import scale_free

import lagbc

A, begun = scale_free(3000, 18000, seed=1), threading.Event()


def call_on():
    while True:
        lagbc.bc(A, k=64, rng=1, threads=1, method="batched", reduce="none", device="cpu")
        begun.set()


class Last:
    def __del__(self, sleep=time.sleep):  # once Python gives no other thread the GIL any more
        sleep(0.2)


last = Last()
for _ in range(2):
    threading.Thread(target=call_on, daemon=True).start()
begun.wait()
