#!/bin/sh
# GitLab: shows the plan in a single note on the merge request, and keeps the note up to date. GITLAB_TOKEN must be a
# project access token with the scope api.
set -eu

marker='<!-- espalier plan -->'
notes="$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes"
# The token is read from stdin, so that process lists do not show it.
api() { printf 'PRIVATE-TOKEN: %s\n' "$GITLAB_TOKEN" | curl --fail-with-body --silent --show-error --header @- "$@"; }

{ printf '%s\n' "$marker"; cat espalier-plan.md; } > espalier-note.md
# Edit a note only if it was written by the account that owns the token.
own=$(api "$CI_API_V4_URL/user" | jq -r .username)
id=$(api "$notes?per_page=100&sort=desc" | jq -r --arg marker "$marker" --arg own "$own" \
  'map(select(.author.username == $own and (.body | startswith($marker)))) | .[0].id // empty')
if [ -n "$id" ]; then
  api --request PUT --data-urlencode body@espalier-note.md "$notes/$id" > espalier-note.json
else
  api --data-urlencode body@espalier-note.md "$notes" > espalier-note.json
fi
