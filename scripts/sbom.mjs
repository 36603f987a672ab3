// Prints the SBOM of the published package in the CycloneDX format, based on `npm sbom`. It contains the dependencies
// that npm installs and those that are bundled in dist/, but no development dependencies. Requires dist/.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const bundled = new Set(
  readFileSync('dist/LICENSES.txt', 'utf8')
    .split(`\n${'-'.repeat(80)}\n\n`)
    .map((text) => text.split('\n', 1)[0].replace(/ (?=[^ ]+$)/, '@')),
)

const { name } = JSON.parse(readFileSync('package.json', 'utf8'))
const npm = ['sbom', '--sbom-format', 'cyclonedx', '--workspaces=false']
const bom = JSON.parse(
  execFileSync('npm', npm, {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: process.platform === 'win32',
  }),
)
const own = bom.metadata.component
const isDevelopment = ({ properties = [] }) => properties.some(({ name: key }) => key === 'cdx:npm:package:development')
const components = bom.components.filter((component) => bundled.has(component['bom-ref']) || !isDevelopment(component))
const kept = new Set([own['bom-ref'], ...components.map((component) => component['bom-ref'])])
const result = {
  ...bom,
  // npm names the component after the folder.
  metadata: { ...bom.metadata, component: { ...own, name } },
  components,
  dependencies: bom.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) })),
}
console.log(JSON.stringify(result, null, 2))
