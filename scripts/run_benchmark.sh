#!/usr/bin/env bash
# The benchmarks that this machine can run, or those that are named: scripts/run_benchmark.sh launch compile_time
set -euo pipefail
cd "$(dirname "$0")/.."
names=("$@")
if [[ ${#names[@]} -eq 0 ]]; then
    names=(compile_time launch virtual_gpu warm_start)
fi
for name in "${names[@]}"; do
    echo "== $name"
    "${PYTHON:-python}" -m "benchmarks.$name"
done
