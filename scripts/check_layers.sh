#!/bin/sh
# check_layers.sh - fail if a layer includes what it must not know.
# Each rule: directory, extended regex of includes that are forbidden in it.
set -eu
cd "$(dirname "$0")/.."
rc=0
forbid() {
    dir=$1 re=$2
    [ -d "$dir" ] || return 0
    if grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*$re" --include='*.[ch]' "$dir"; then
        echo "check_layers: $dir must not include the above" >&2
        rc=1
    fi
}
for d in decoder enrich collector tests; do
    forbid "$d" '["<]\.\./'
done
forbid decoder '["<](enrich|collector|tests)/'
forbid decoder '<(uv|curl/|maxminddb|cyaml/|lz4|sys/socket|netinet/|arpa/|syslog|time|stdio|jansson)'
forbid enrich '["<](collector|tests)/'
forbid enrich '["<]decoder/(wire|template|netflow|ipfix|session|state)'
forbid enrich '<(uv|curl/|cyaml/|lz4)'
forbid collector/output '["<](enrich|decoder)/'
forbid collector/document '["<]collector/(input|pipeline|output)/'
forbid collector/ledger '["<](enrich|collector/(input|pipeline|output|document|log|cli|command|util))/'
forbid collector/ledger '["<]decoder/(wire|template|netflow|ipfix|session|elements|internal)'
forbid collector/input '["<](enrich|collector/(output|document|command|ledger))/'
forbid collector/util '["<](enrich|collector/(input|pipeline|output|document|ledger|log|cli|command))/'
forbid collector/util '["<]decoder/([^b]|b[^a]|base[^.])'
forbid collector/log '["<](decoder|enrich|collector/(input|pipeline|output|document|ledger|cli|command|util))/'
forbid collector/cli '["<](enrich|collector/(input|pipeline|output|document|ledger|log|command))/'
exit $rc
