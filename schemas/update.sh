#!/usr/bin/env bash
# Rewrites the committed schemas and docs/scenario-reference.md: schemas/update.sh [PATH_OF_contend-schema]
# Without a path it builds the program first, in the folder that ./contend has set up.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
tool=${1:-}
if [[ -z $tool ]]; then
  cmake --build "$root/build/release" --target contend-schema
  tool=$root/build/release/bin/contend-schema
fi
new=$(mktemp -d)
trap 'rm -rf -- "$new"' EXIT
# All of them first: a failure leaves the old ones.
for schema in scenario profile preset; do
  "$tool" "$schema" "$root/schemas/names.json" >"$new/$schema.schema.json"
done
"$tool" reference "$root/schemas/names.json" >"$new/scenario-reference.md"
chmod 644 "$new"/*
mv -- "$new"/*.schema.json "$root/schemas/"
mv -- "$new/scenario-reference.md" "$root/docs/scenario-reference.md"
