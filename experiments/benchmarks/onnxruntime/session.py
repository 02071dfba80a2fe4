"""One setting of ONNX Runtime in a process of its own: prints its speed and peak memory as one line of JSON.

usage: session.py MODEL.onnx INPUT.npy THREADS SESSIONS SECONDS [OUTPUT.npy]

`SESSIONS` sessions of `THREADS` threads each run INPUT side by side for about SECONDS. Latency is the median of a
call, throughput is that of all sessions together. Memory: the peak of the process, and what it had before the first
session (the interpreter and the libraries).
"""

import json
import sys
import threading
import time

import numpy as np
import onnxruntime


def peak_bytes():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def make_session(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def repeat(session, feed, until, times):
    while True:
        begin = time.perf_counter()
        session.run(None, feed)
        end = time.perf_counter()
        times.append((begin, end))
        if end >= until:
            return


def main():
    model, input_file, threads, sessions, seconds = sys.argv[1:6]
    before = peak_bytes()
    x = np.load(input_file)
    pool = [make_session(model, int(threads)) for _ in range(int(sessions))]
    feed = {pool[0].get_inputs()[0].name: x}
    for session in pool:
        session.run(None, feed)
        outputs = session.run(None, feed)
    if len(sys.argv) > 6:
        np.save(sys.argv[6], outputs[0])
    times = [[] for _ in pool]
    begin = time.perf_counter()
    workers = [threading.Thread(target=repeat, args=(session, feed, begin + float(seconds), times[i]))
               for i, session in enumerate(pool)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    # each session's own rate over its own calls: the first to finish leaves the other one alone for a moment only
    rate = sum(len(t) * x.shape[0] / (t[-1][1] - t[0][0]) for t in times)
    calls = [end - start for t in times for start, end in t]
    print(json.dumps({"throughput": rate, "latency": float(np.median(calls)), "peak_bytes": peak_bytes(),
                      "bytes_before": before}))


if __name__ == "__main__":
    main()
