"""Models in processes of their own that run when they are told to, and races between two of them."""

import json
import math
import random
import subprocess
import time

STARTS = 7  # of the processes of a race
TURN_MS = 50  # about as long as a turn of short runs takes


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def interval(values):
    """95 % confidence of the median, by order statistics."""
    ordered, n = sorted(values), len(values)
    half = 1.96 * n**0.5 / 2
    return ordered[max(0, math.floor(n / 2 - half))], ordered[min(n - 1, math.ceil(n / 2 + half))]


class Paced:
    """`attune bench --paced` with further flags."""

    def __init__(self, attune, model, flags=()):
        command = [str(attune), "bench", str(model), "--paced", *map(str, flags)]
        # Threads wait as they do for users: they spin between the steps of a run and fall asleep soon after it, within
        # the run of a turn that does not count. Told to sleep at once, small models take twice the time in wake-ups
        # alone, which hides half of what kernels differ by.
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        if self.process.stdout.readline().strip() != "ready":
            raise RuntimeError(f"{' '.join(command)}: {self.process.stderr.read().strip()[-300:]}")

    def take(self, runs):
        """The median of some runs in ms; the first after the other had the machine does not count."""
        self.process.stdin.write(f"{runs + 1}\n")
        self.process.stdin.flush()
        return median(json.loads(self.process.stdout.readline())[1:])

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def race_once(contestants, seconds, order):
    """Times of two, each in a process of its own, in turn."""
    runners = []
    try:
        for contestant in contestants:
            runners.append(Paced(*contestant))
        once = max(runner.take(2) for runner in runners)
        runs = max(1, min(20, int(TURN_MS / max(once, 0.01))))
        rounds = []
        end = time.monotonic() + seconds
        while time.monotonic() < end or len(rounds) < 3:
            turns = [0, 1]
            order.shuffle(turns)
            times = {turn: runners[turn].take(runs) for turn in turns}
            rounds.append((times[0], times[1]))
        return rounds
    finally:
        for runner in runners:
            runner.end()


def race(first, second, seconds, starts=STARTS):
    """Time of the first over that of the second, interleaved: above 1, the second is faster. Each is the arguments of a
    Paced.

    Where a process's memory happens to lie makes it faster or slower for as long as it lives, so that rounds of two
    processes are no independent samples. Both are started anew several times; a sample is the median of such a pair.
    """
    order = random.Random(1)
    rounds = [race_once((first, second), seconds / starts, order) for _ in range(starts)]
    ratios = [median([a / b for a, b in one]) for one in rounds]
    low, high = interval(ratios)
    every = [pair for one in rounds for pair in one]
    return {
        "ratio": median(ratios),
        "low": low,
        "high": high,
        "first_ms": median([a for a, _ in every]),
        "second_ms": median([b for _, b in every]),
        "starts": starts,
        "rounds": len(every),
    }
