#!/bin/sh
# Training steps of four networks on three platforms with unlike devices: best against dmdas and the best lower
# bound, on the model engine. usage: table.sh [ESPALIER [TIME_LIMIT [COSTS]]]; writes a Markdown table.
# Fails when best is worse than dmdas anywhere, or less than 5 % better on average.
set -eu
espalier=${1:-espalier}
limit=${2:-1}
csv=$(mktemp)
trap 'rm -f "$csv"' EXIT
"$espalier" compare resnet50 vgg16 inception_v3 lstm --mode training --batch 64 --micro-batches 8 \
  --platform node-2cpu-4gpu --platform hetero-2v100-2p100 --platform cluster-4x-2cpu-4gpu \
  --schedulers heft_topcuoglu2002,dmdas,best --costs "${3:-roofline}" --time-limit "$limit" --csv "$csv" >&2
tr -d '\r' <"$csv" | awk -F, '
  NR == 1 { next }
  { key = $1 "," $2; if (!(key in seen)) { seen[key] = 1; keys[++n] = key }
    time[key, $3] = $6; bound[key] = $7; name[key] = $8; seconds[key, $3] = $13 }
  END {
    print "| network | platform | bound ms | by | best ms | gap | dmdas ms | HEFT ms | best is better than dmdas by | seconds |"
    print "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for (i = 1; i <= n; ++i) {
      key = keys[i]; split(key, part, ",")
      best = time[key, "best"]; dmdas = time[key, "dmdas"]
      printf "| %s | %s | %.2f | %s | %.2f | %.1f %% | %.2f | %.2f | %.1f %% | %.1f |\n", part[1], part[2],
        1e3 * bound[key], name[key], 1e3 * best, 100 * (best / bound[key] - 1), 1e3 * dmdas,
        1e3 * time[key, "heft_topcuoglu2002"], 100 * (1 - best / dmdas), seconds[key, "best"]
      sum += 1 - best / dmdas
      if (best > dmdas * (1 + 1e-9)) { print "best is worse than dmdas: " key > "/dev/stderr"; bad = 1 }
    }
    printf "\nOn average best is %.1f %% better than dmdas.\n", 100 * sum / n
    if (sum / n < 0.05) bad = 1
    exit bad
  }'
