#!/usr/bin/env bash
# Rewrites the committed schemas and docs/scenario-reference.md: schemas/update.sh PATH_OF_contend-schema
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tool=${1:?usage: schemas/update.sh PATH_OF_contend-schema}
for schema in scenario profile preset; do
  "$tool" "$schema" "$here/names.json" >"$here/$schema.schema.json.new"
  mv "$here/$schema.schema.json.new" "$here/$schema.schema.json"
done
"$tool" reference "$here/names.json" >"$here/../docs/scenario-reference.md.new"
mv "$here/../docs/scenario-reference.md.new" "$here/../docs/scenario-reference.md"
