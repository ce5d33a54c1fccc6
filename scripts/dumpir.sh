#!/usr/bin/env bash
# Run a program and write the IR of its kernels after every pass: scripts/dumpir.sh examples/01-vectorAdd.py
# The files are below FLYDSL_DUMP_DIR, by default the folder my_ir_dumps here.
set -euo pipefail
export FLYDSL_DUMP_IR=1
export FLYDSL_DUMP_DIR="${FLYDSL_DUMP_DIR:-$PWD/my_ir_dumps}"
export FLYDSL_RUNTIME_ENABLE_CACHE=0
"${PYTHON:-python}" "$@"
echo "dumps: $FLYDSL_DUMP_DIR"
