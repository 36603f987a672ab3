#!/bin/sh
# Any CI: checks the manifests, plans them against a base, and writes files for the CI to show.
#
#   BASE=origin/main ESPALIER_API_KEY=… plan.sh espalier.yaml
#
# Writes espalier.sarif (problems with their lines, for code scanning), espalier-plan.md (the plan, for a comment) and
# espalier-plan.json (the plan, for other programs). Fails if a manifest has errors or a policy denies the plan.
set -eu

if ! espalier validate --format sarif "$@" > espalier.sarif; then
  espalier validate "$@" >&2 || true
  exit 1
fi
status=0
espalier plan --base "$BASE" --format markdown "$@" > espalier-plan.md || status=$?
espalier plan --base "$BASE" --format json "$@" > espalier-plan.json || status=$?
exit "$status"
