#!/usr/bin/env bash
# Rewrites the committed schemas: schemas/update.sh PATH_OF_contend-schema
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tool=${1:?usage: schemas/update.sh PATH_OF_contend-schema}
for schema in scenario profile; do
  "$tool" "$schema" "$here/names.json" >"$here/$schema.schema.json.new"
  mv "$here/$schema.schema.json.new" "$here/$schema.schema.json"
done
