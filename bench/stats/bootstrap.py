"""The bootstrap against numpy: 10,000 resamples of 6,163 instances, 4 metrics.

  python3 bench/stats/bootstrap.py [--rounds N] [--quick]

Contestants resample the same scores and give percentile intervals of the means:
ours (one goroutine, and two), numpy by gather (random indices, 100 resamples at
a time; and five at a time into one buffer), and numpy's multinomial over distinct
outcomes. They take turns, and the medians of processor time are compared. Intervals must agree within what
resampling leaves open, and ours must not depend on the number of goroutines.

The exit code is 0 if the target holds (3 times numpy by gather, the tuned one;
the goal is 40 times the usual one), 1 if it does
not or results differ, and 2 if the measurement could not be made.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    print("bench-stats: want numpy (apt-get install python3-numpy)", file=sys.stderr)
    sys.exit(2)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INSTANCES, METRICS, TARGET, GOAL = 6163, 4, 3, 40


def scores():
    """Scores as models get them: most turns have one gold call, some have up to four."""
    g = np.random.default_rng(1)
    calls = g.choice([1, 2, 3, 4], INSTANCES, p=[0.8, 0.12, 0.05, 0.03])
    names = g.binomial(calls, 0.85)
    strict = g.binomial(names, 0.35)
    flexible = strict + g.binomial(names - strict, 0.4)
    return np.stack([names == calls, names / calls, strict / calls, flexible / calls]).astype("<f8")


def bounds(means):
    return [float(x) for x in np.quantile(means, [0.025, 0.975])] + [float(means.std(ddof=1))]


def gather(data, resamples, g):
    """100 resamples at a time; one set of indices serves all metrics."""
    means = []
    for at in range(0, resamples, 100):
        index = g.integers(0, data.shape[1], (min(100, resamples - at), data.shape[1]), dtype=np.int32)
        means.append([row[index].mean(axis=1) for row in data])
    return [bounds(np.concatenate(m)) for m in zip(*means)]


def tuned(data, resamples, g):
    """The same, five at a time into a buffer that stays in the cache: the fastest that was found."""
    means, buffer = [], np.empty((5, data.shape[1]))
    for _ in range(0, resamples, 5):
        index = g.integers(0, data.shape[1], buffer.shape)
        means.append([np.take(row, index, out=buffer, mode="clip").mean(axis=1) for row in data])
    return [bounds(np.concatenate(m)) for m in zip(*means)]


def multinomial(data, resamples, g):
    out = []
    for row in data:
        values, counts = np.unique(row, return_counts=True)
        drawn = g.multinomial(len(row), counts / len(row), resamples)
        out.append(bounds(drawn @ values / len(row)))
    return out


def timed(work, *args):
    start = time.process_time()
    result = work(*args)
    return time.process_time() - start, result


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--rounds", type=int, default=5)
    args.add_argument("--quick", action="store_true", help="a tenth of the resamples, two rounds")
    o = args.parse_args()
    resamples, rounds = (1000, 2) if o.quick else (10_000, o.rounds)
    data, g = scores(), np.random.default_rng(2)
    with tempfile.TemporaryDirectory() as tmp:
        binary, path = os.path.join(tmp, "ours"), os.path.join(tmp, "scores")
        if subprocess.run(["go", "build", "-o", binary, "./bench/stats"], cwd=ROOT).returncode != 0:
            sys.exit(2)
        data.tofile(path)
        ours = subprocess.Popen([binary, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        def ask(workers):
            ours.stdin.write(json.dumps({"metrics": METRICS, "resamples": resamples, "seed": 1, "workers": workers}) + "\n")
            ours.stdin.flush()
            r = json.loads(ours.stdout.readline())
            return r["cpu"], r["intervals"]

        ask(1)  # the first call pays for pages
        times, results = {}, {}
        for _ in range(rounds):
            for name, work in [
                ("ours, 1 goroutine", lambda: ask(1)),
                ("ours, 2 goroutines", lambda: ask(2)),
                ("numpy, gather", lambda: timed(gather, data, resamples, g)),
                ("numpy, tuned gather", lambda: timed(tuned, data, resamples, g)),
                ("numpy, multinomial", lambda: timed(multinomial, data, resamples, g)),
            ]:
                cpu, results[name] = work()
                times.setdefault(name, []).append(cpu)
        ours.stdin.close()
        ours.wait()
    base = statistics.median(times["numpy, gather"])
    print(f"{resamples:,} resamples of {INSTANCES:,} instances, {METRICS} metrics; processor seconds, median of {rounds} rounds")
    for name, t in times.items():
        m = statistics.median(t)
        print(f"{name:20} {m:8.4f} s  {base / m:6.1f} x numpy gather")
    one, two = results["ours, 1 goroutine"], results["ours, 2 goroutines"]
    ok = one == two
    print("ours, for any number of goroutines:", "the same numbers" if ok else "OTHER NUMBERS")
    for m, (a, b) in enumerate(zip(one, results["numpy, gather"])):
        # A quantile of B resamples is known to some 2.7 SE/sqrt(B), an SE to SE/sqrt(2B).
        slack = 6 * 2.7 * b[2] / resamples**0.5
        same = abs(a[0] - b[0]) <= slack and abs(a[1] - b[1]) <= slack and abs(a[2] / b[2] - 1) <= 6 / (2 * resamples) ** 0.5
        ok = ok and same
        print(f"metric {m}: ours {a[0]:.4f} to {a[1]:.4f}, numpy {b[0]:.4f} to {b[1]:.4f}: {'agree' if same else 'DIFFER'}")
    ours = statistics.median(times["ours, 1 goroutine"])
    ratio, usual = statistics.median(times["numpy, tuned gather"]) / ours, base / ours
    print(f"target {TARGET} x tuned gather: {'holds' if ratio >= TARGET else 'MISSED'} ({ratio:.1f} x); "
          f"goal {GOAL} x gather: {'reached' if usual >= GOAL else 'not reached'} ({usual:.1f} x)")
    sys.exit(0 if ok and ratio >= TARGET else 1)


if __name__ == "__main__":
    main()
