// Prints the section of CHANGELOG.md for a version, which is used as the release notes: `release-notes.mjs 1.2.3`.
import { readFileSync } from 'node:fs'

const version = process.argv[2] ?? ''
const sections = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m)
const section = sections.find((text) => text.startsWith(`[${version}] - `))
if (section === undefined) {
  console.error(`CHANGELOG.md has no section "## [${version}] - YYYY-MM-DD".`)
  process.exitCode = 1
} else {
  // The title of the release already contains the version.
  console.log(section.slice(section.indexOf('\n')).trim())
}
