#!/usr/bin/env python3
"""Kills `attune tune` with SIGKILL at random moments, again and again on a bank, and checks that

- every acknowledged trial (its event was written) is in the bank,
- a run measures nothing that was in the bank when it began,
- no process of a killed run stays behind,
- the bank is whole at the end, and a run that nobody kills ends well;

then lets two tuners work on one bank at once, and checks that nothing of either is lost.

    tests/tuner_faults/kill_tuner.py --attune build/release/attune --kills 200
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MARK = "ATTUNE_KILL_TEST"
ORPHAN_SECONDS = 5  # that the processes of a killed run may take to notice
KILLS_OF_A_BANK = 20  # after which a small model has little left to try


class Tuner:
    """One run of `attune tune`, with the events that it acknowledges trials by."""

    def __init__(self, options, bank, events, trials):
        self.mark = uuid.uuid4().hex
        self.events_file = events
        events.unlink(missing_ok=True)
        command = [options.attune, "tune", options.model, "--bank", bank, "--events", events, "--budget", "20s",
                   "--trials", trials, "--seed", random.randrange(1000), "--threads", 1]
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, env={**os.environ, MARK: self.mark})

    def processes(self):
        """All that run with the mark of this run, itself included."""
        found = []
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            try:
                if f"{MARK}={self.mark}".encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                pass  # it ended meanwhile, or is not ours
        return found

    def wait_for_a_trial(self):
        deadline = time.monotonic() + 30
        while not self.trials() and self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)

    def kill(self):
        """Returns how many processes it had."""
        count = len(self.processes())
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()
        return count

    def wait(self):
        _, errors = self.process.communicate(timeout=120)
        if self.process.returncode != 0:
            raise AssertionError(f"a run that nobody killed ended with {self.process.returncode}: {errors.decode()}")

    def orphans(self):
        deadline = time.monotonic() + ORPHAN_SECONDS
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.01)
        return left

    def trials(self):
        """(workload, provider, config) of each acknowledged trial; the last line may have been cut."""
        if not self.events_file.exists():
            return []
        text = self.events_file.read_text()
        events = [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]
        workloads = [task["workload"] for event in events if event["event"] == "begin" for task in event["tasks"]]
        return [trial_id(workloads[event["task"]], event["trial"]["provider"], event["trial"]["config"])
                for event in events if event["event"] == "trial" and event["outcome"] != "infrastructure"]


def trial_id(workload, provider, config):
    return workload, provider, json.dumps(config, sort_keys=True)


def banked(options, bank):
    """The trials that a bank has."""
    if not bank.exists():
        return set()
    lines = subprocess.run([str(options.attune), "bank", "export", "--bank", str(bank)], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    records = [json.loads(line)["record"] for line in lines]
    return {trial_id(record["workload"], record["provider"], record["config"]) for record in records}


def verify(options, bank):
    done = subprocess.run([str(options.attune), "bank", "verify", "--bank", str(bank)], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"'bank verify' ended with {done.returncode}: {done.stdout}{done.stderr}")


def kill_again_and_again(options, folder):
    events = folder / "events.jsonl"
    acknowledged, measured_twice, lost, orphans = 0, 0, 0, 0
    with_worker = before_trials = 0
    for number in range(options.kills):
        bank = folder / f"bank{number // KILLS_OF_A_BANK}.sqlite"
        known = banked(options, bank)
        tuner = Tuner(options, bank, events, trials=options.trials)
        # Some die while they load and plan, most between the first trial and the end of the finals.
        if random.random() < 0.7:
            tuner.wait_for_a_trial()
        time.sleep(random.uniform(0, options.longest))
        with_worker += tuner.kill() > 1
        left = tuner.orphans()
        orphans += len(left)
        trials = tuner.trials()
        before_trials += not trials
        acknowledged += len(trials)
        measured_twice += len(known & set(trials)) + len(trials) - len(set(trials))
        missing = set(trials) - banked(options, bank)
        lost += len(missing)
        if left or missing or known & set(trials):
            print(f"kill {number}: {len(left)} orphans, lost {missing}, measured again {known & set(trials)}")
        if (number + 1) % KILLS_OF_A_BANK == 0:
            verify(options, bank)
            print(f"{number + 1} kills: {acknowledged} trials acknowledged", flush=True)
    verify(options, bank)
    known = banked(options, bank)
    last = Tuner(options, bank, events, trials=options.trials)
    last.wait()
    measured_twice += len(known & set(last.trials()))
    print(f"{options.kills} kills, {with_worker} with a worker alive, {before_trials} before the first trial: "
          f"{acknowledged} trials acknowledged, {lost} lost, {measured_twice} measured twice, {orphans} orphans")
    if lost or measured_twice or orphans:
        raise AssertionError("see above")
    if not acknowledged or (options.kills >= 10 and not with_worker):
        raise AssertionError("no kill met a tuner at work: give --longest another value")


def two_at_once(options, folder):
    bank = folder / "shared.sqlite"
    tuners = [Tuner(options, bank, folder / f"events{i}.jsonl", trials=options.trials) for i in range(2)]
    for tuner in tuners:
        tuner.wait()
    verify(options, bank)
    kept = banked(options, bank)
    for tuner in tuners:
        trials = tuner.trials()
        if not trials:
            raise AssertionError("one of two tuners measured nothing")
        missing = set(trials) - kept
        if missing:
            raise AssertionError(f"lost {missing}")
        print(f"two at once: {len(trials)} trials acknowledged, 0 lost")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attune", type=Path, default=ROOT / "build/release/attune")
    parser.add_argument("--model", default="zoo:lenet")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--trials", type=int, default=8, help="most trials of one run")
    parser.add_argument("--longest", type=float, default=1.5, help="seconds until a kill, at most")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    random.seed(options.seed)
    print(f"seed {options.seed}")
    passed = failed = 0
    for check in [kill_again_and_again, two_at_once]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(options, Path(folder))
                passed += 1
            except Exception as error:  # whatever it is, it is reported and the next check runs
                print(f"{check.__name__}: {error}")
                failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
