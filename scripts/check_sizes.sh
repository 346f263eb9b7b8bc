#!/bin/sh
# check_sizes.sh - fail on a source file of more than 800 lines (house rule; functions are clang-tidy's to check).
set -eu
cd "$(dirname "$0")/.."
long=$(find decoder enrich collector tests scripts \( -name '*.[ch]' -o -name '*.py' -o -name '*.sh' \) -exec wc -l {} + |
    awk '$2 != "total" && $1 > 800 { print $2 ": " $1 " lines, at most 800" }')
if [ -n "$long" ]; then
    echo "$long" >&2
    exit 1
fi
