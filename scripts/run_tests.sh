#!/usr/bin/env bash
# All tests but those of large shapes; RUN_TESTS_FULL=1 adds them. Arguments go to pytest: scripts/run_tests.sh -k gemm
set -euo pipefail
cd "$(dirname "$0")/.."
chosen=(-m "not large_shape")
if [[ "${RUN_TESTS_FULL:-0}" == 1 ]]; then
    chosen=()
fi
exec "${PYTHON:-python}" -m pytest "${chosen[@]}" "$@"
