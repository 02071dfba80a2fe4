"""Espalier beside ONNX Runtime on the same model file and inputs, in one run.

The results are compared first. Then rounds in which every setting is measured once, one after the other, each in a
process of its own: what disturbs the machine meets all of them. Medians over the rounds are reported.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

HERE = pathlib.Path(__file__).parent
BATCHES = (1, 4, 16)  # that ONNX Runtime may choose from
SETTINGS = ((1, 1), (2, 1), (1, 2))  # threads, sessions


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("models", nargs="*", type=pathlib.Path, help="ONNX classifiers; default: a ResNet-50")
    parser.add_argument("--espalier", default="build/release/espalier", help="the command to measure")
    parser.add_argument("--batch", type=int, default=16, help="of Espalier's throughput")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2, help="of one measurement")
    parser.add_argument("--seed", type=int, default=0, help="of the random images")
    parser.add_argument("--json", type=pathlib.Path, help="file for all figures")
    return parser.parse_args()


def with_batch(path, folder):
    """The model with a symbolic first extent: exporters often fix it to one sample."""
    model = onnx.load(path)
    for value in list(model.graph.input) + list(model.graph.output):
        if value.type.tensor_type.shape.dim:
            value.type.tensor_type.shape.dim[0].dim_param = "N"
    del model.graph.value_info[:]
    out = folder / f"{path.stem}.any_batch.onnx"
    onnx.save(model, out)
    return out


def child(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip().splitlines()[-1:]}")
    return json.loads(done.stdout)


class Contest:
    """All measurements of one model."""

    def __init__(self, model, options, folder):
        self.model, self.options, self.folder = model, options, folder
        self.any_batch = with_batch(model, folder)
        shape = onnx.load(model, load_external_data=False).graph.input[0].type.tensor_type.shape
        self.sample = [d.dim_value for d in shape.dim[1:]]
        self.random = np.random.default_rng(options.seed)
        self.inputs = {b: self.make_input(b) for b in sorted({1, options.batch, *BATCHES})}

    def make_input(self, batch):
        file = self.folder / f"x{batch}.npy"
        np.save(file, self.random.standard_normal([batch] + self.sample, dtype=np.float32))
        return file

    def espalier(self, batch, *more):
        # as many iterations as fill the time, from a first short run
        command = [self.options.espalier, "run", self.model, "--batch", batch, "--input", self.inputs[batch], "--json"]
        if more:
            return child(command + list(more))
        if batch not in self.iterations:
            first = child(command + ["--iterations", 3])
            self.iterations[batch] = max(3, round(self.options.seconds / first["makespan"]))
        return child(command + ["--iterations", self.iterations[batch]])

    def onnxruntime(self, threads, sessions, batch, seconds, output=None):
        command = [sys.executable, HERE / "session.py", self.any_batch if batch > 1 else self.model,
                   self.inputs[batch], threads, sessions, seconds]
        return child(command + ([output] if output else []))

    def difference(self):
        """Largest difference over the largest output, over both batches."""
        worst = 0
        for batch in (1, self.options.batch):
            ours, theirs = self.folder / "ours.npy", self.folder / "theirs.npy"
            self.espalier(batch, "--iterations", 1, "--warmup", 0, "--output", ours)
            self.onnxruntime(1, 1, batch, 0, theirs)
            a, b = np.load(ours), np.load(theirs)
            if a.shape != b.shape:
                raise RuntimeError(f"{self.model}: shapes {a.shape} and {b.shape} of a batch of {batch}")
            worst = max(worst, float(np.abs(a - b).max() / np.abs(b).max()))
        return worst

    def survey(self):
        """The settings of ONNX Runtime worth full rounds: for latency and for throughput."""
        found = {}
        for threads, sessions in SETTINGS:
            for batch in BATCHES:
                try:
                    found[threads, sessions, batch] = self.onnxruntime(threads, sessions, batch, self.options.seconds / 2)
                except RuntimeError as error:
                    print(f"  left out: {error}", file=sys.stderr)
        singles = [s for s in found if s[1] == 1 and s[2] == 1]
        fast = sorted(found, key=lambda s: -found[s]["throughput"])[:3]
        return sorted(singles, key=lambda s: found[s]["latency"]), fast, found

    def run(self):
        self.iterations = {}
        result = {"model": self.model.name, "difference": self.difference()}
        if not result["difference"] <= 1e-4:
            raise RuntimeError(f"{self.model}: the results differ by {result['difference']:.1e} of the largest")
        singles, fast, found = self.survey()
        result["survey"] = [dict(threads=t, sessions=s, batch=b, **found[t, s, b]) for t, s, b in found]
        ours = {1: [], self.options.batch: []}
        theirs = {s: [] for s in singles + fast}
        for number in range(self.options.rounds):
            print(f"  {self.model.name}: round {number + 1} of {self.options.rounds}", file=sys.stderr)
            for batch, list_ in ours.items():
                list_.append(self.espalier(batch))
            for setting, list_ in theirs.items():
                list_.append(self.onnxruntime(*setting, self.options.seconds))
        return result | self.summary(ours, theirs, singles, fast)

    def summary(self, ours, theirs, singles, fast):
        def median(runs, key):
            return statistics.median(r[key] for r in runs)

        def name(setting):
            return f"{setting[1]} x {setting[0]} thread{'s' if setting[0] > 1 else ''}, batch {setting[2]}"

        single = min(singles, key=lambda s: median(theirs[s], "latency"))
        best = max(theirs, key=lambda s: median(theirs[s], "throughput"))
        many, one = ours[self.options.batch], ours[1]
        peak = max(r["peak_memory_bytes"]["host"] for r in many)
        their_peak, before = (max(r[k] for r in theirs[best]) for k in ("peak_bytes", "bytes_before"))
        return {
            "throughput": {"espalier": median(many, "throughput"), "onnxruntime": median(theirs[best], "throughput"),
                           "setting": name(best), "lost_between_kernels": median(many, "lost_between_kernels")},
            "latency": {"espalier": median(one, "makespan"), "onnxruntime": median(theirs[single], "latency"),
                        "setting": name(single)},
            "memory": {"espalier": peak, "onnxruntime": their_peak, "onnxruntime_before": before},
            "rounds": {"espalier": {str(b): [r["throughput"] for r in runs] for b, runs in ours.items()},
                       "onnxruntime": {name(s): [r["throughput"] for r in runs] for s, runs in theirs.items()}},
        }


def line(result):
    t, l, m = result["throughput"], result["latency"], result["memory"]
    return (f"| {result['model'].removesuffix('.onnx')} | {t['espalier']:.1f} | {t['onnxruntime']:.1f} ({t['setting']}) "
            f"| {t['espalier'] / t['onnxruntime']:.2f} | {l['espalier'] * 1e3:.2f} ms | {l['onnxruntime'] * 1e3:.2f} ms "
            f"({l['setting']}) | {l['espalier'] / l['onnxruntime']:.2f} | {m['espalier'] / 1e6:.0f} MB "
            f"| {m['onnxruntime'] / 1e6:.0f} MB | {m['espalier'] / m['onnxruntime']:.2f} "
            f"| {100 * t['lost_between_kernels']:.1f} % | {result['difference']:.0e} |")


def main():
    options = arguments()
    results = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        if not options.models:
            options.models = [folder / "resnet50.onnx"]
            subprocess.run([sys.executable, HERE / "make_resnet50.py", options.models[0]], check=True)
        for model in options.models:
            results.append(Contest(model, options, folder).run())
    print(f"ONNX Runtime {onnxruntime.__version__}, medians of {options.rounds} rounds; throughput of Espalier at batch "
          f"{options.batch}\n")
    print("| | images/s | ONNX Runtime | ratio | one image | ONNX Runtime | ratio | peak memory | ONNX Runtime | ratio "
          "| lost between kernels | difference |\n|" + " --- |" * 12)
    for result in results:
        print(line(result))
    if options.json:
        temporary = options.json.with_suffix(".part")
        temporary.write_text(json.dumps(results, indent=1) + "\n")
        temporary.rename(options.json)


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        sys.exit(f"error: {error}")
