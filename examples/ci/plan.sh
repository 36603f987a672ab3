#!/bin/sh
# For any CI system: checks the manifests, plans them against a base, and writes files that the CI system can show.
#
#   BASE=origin/main ESPALIER_API_KEY=… plan.sh espalier.yaml
#
# Writes three files: espalier.sarif contains problems with their lines, for code scanning, espalier-plan.md contains the
# plan or the errors for a comment, and espalier-plan.json contains the plan, if there is one, for other programs. The
# script fails if a manifest has errors, planning fails, or a policy denies the plan.
set -eu

if ! espalier validate --base "$BASE" --format sarif "$@" > espalier.sarif; then
  problems=$(espalier validate --base "$BASE" "$@" 2>&1 || true)
  printf '%s\n' "$problems" >&2
  { printf '### Espalier: the manifests have errors\n\n'; printf '%s\n' "$problems" | sed 's/^/    /'; } > espalier-plan.md
  exit 1
fi
status=0
espalier plan --base "$BASE" --format markdown "$@" > espalier-plan.md || status=$?
espalier plan --base "$BASE" --format json "$@" > espalier-plan.json || status=$?
# Without a plan, the comment must not show the previous one.
[ -s espalier-plan.md ] || printf '### Espalier: the plan failed\n\nThe log of the job shows why.\n' > espalier-plan.md
exit "$status"
