/** The metrics, paths, ports and flags that deploy/ mentions exist in the program. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { serveAgent } from '../../src/agent/index.ts'
import { startInProcess } from '../in-process.ts'
import { at, FakeControl, project, START } from './fake-control.ts'

const files = readdirSync('deploy', { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
const textOf = (file: string): string => readFileSync(file, 'utf8')
const withEnding = (ending: RegExp): readonly string[] => files.filter((file) => ending.test(file))
const documents = (file: string): readonly unknown[] =>
  parseAllDocuments(textOf(file)).map((document) => {
    expect(document.errors, file).toEqual([])
    return document.toJS()
  })

/** All strings and keys in a value. */
const stringsOf = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(stringsOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) => [key, ...stringsOf(one)])
}
const metricsIn = (value: unknown): readonly string[] =>
  stringsOf(value).flatMap((text) => text.match(/\bespalier_\w+/g) ?? [])

const withAgent = async <T>(
  use: (urls: { readonly url: string; readonly publicUrl: string }) => Promise<T>,
): Promise<T> => {
  const control = new FakeControl([project('p-1', { state: 'Scheduled', windowOpensAt: at(60) })])
  const local = { host: '127.0.0.1', port: 0 }
  const {
    url,
    publicUrl = '',
    close,
  } = await serveAgent(control, {
    listen: local,
    listenPublic: local,
    tokens: { read: { text: 'token' }, write: { text: 'token' } },
    webhookSecret: 'secret',
    now: () => START,
    log: () => undefined,
  })
  try {
    return await use({ url, publicUrl })
  } finally {
    await close()
  }
}

describe('metrics', () => {
  const named = [
    ...withEnding(/alerts.*\.yaml$/).flatMap(documents),
    ...withEnding(/\.json$/).map((file) => JSON.parse(textOf(file))),
  ]

  test('alert rules and the dashboard name only metrics that the agent has, and the dashboard shows all of them', async () => {
    const exposed = await withAgent(async ({ publicUrl }) => (await fetch(`${publicUrl}/metrics`)).text())
    const known = new Set([...exposed.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name))
    const bare = (name: string): string => (known.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ''))
    const used = new Set(named.flatMap(metricsIn).map(bare))
    expect([...used].filter((name) => !known.has(name))).toEqual([])
    const notShown = [...known].filter((name) => !used.has(name))
    // A timestamp that no panel needs.
    expect(notShown).toEqual(['espalier_git_commit_timestamp_seconds'])
  })

  test('alert rules and the dashboard aggregate each metric only by labels that it has', async () => {
    const exposed = await withAgent(async ({ publicUrl }) => (await fetch(`${publicUrl}/metrics`)).text())
    const labels = new Set([...exposed.matchAll(/[{,](\w+)="/g)].map(([, label]) => label))
    for (const text of named.flatMap(stringsOf)) {
      for (const [, list = ''] of text.matchAll(/\bby \(([^)]*)\)/g)) {
        for (const label of list.split(/\s*,\s*/)) expect(labels, text).toContain(label)
      }
      for (const [, label] of text.matchAll(/espalier_\w+\{(\w+)[=!]/g)) expect(labels, text).toContain(label)
    }
  })

  test('every alert has a severity and a description', () => {
    const [rules] = documents('deploy/prometheus/alerts.yaml') as [{ groups: { rules: Record<string, unknown>[] }[] }]
    const all = rules.groups.flatMap((group) => group.rules)
    expect(all.length).toBeGreaterThanOrEqual(5)
    for (const rule of all) {
      expect(rule).toMatchObject({
        labels: { severity: expect.stringMatching(/^(critical|warning|info)$/) },
        annotations: { summary: expect.stringMatching(/\.$/) },
      })
    }
  })
})

test('every flag in the deployment files is a flag of `espalier agent run`', async () => {
  const { stdout } = await startInProcess(['agent', 'run', '--help'], { cwd: process.cwd() }).ended
  const known = new Set(stdout.match(/--[a-z][a-z-]*/g))
  const flagsOf = (text: string): readonly string[] => text.match(/--[a-z][a-z-]*/g) ?? []
  const [, , set] = documents('deploy/kubernetes/espalier-agent.yaml')
  const [compose] = documents('deploy/compose.yaml') as [{ services: { agent: { command: readonly string[] } } }]
  const [entrypoint = ''] = /^ENTRYPOINT .*$/m.exec(textOf('deploy/Dockerfile')) ?? []
  const [start = ''] = /^ExecStart=.*$/m.exec(textOf('deploy/systemd/espalier-agent.service')) ?? []
  for (const text of [entrypoint, start, compose.services.agent.command.join(' '), JSON.stringify(set)]) {
    expect(flagsOf(text).length, text).toBeGreaterThan(1)
    expect(flagsOf(text).filter((flag) => !known.has(flag))).toEqual([])
  }
})

test('the probes use paths that the public address serves and the port that the image exposes', async () => {
  const [, , set] = documents('deploy/kubernetes/espalier-agent.yaml') as [unknown, unknown, Record<string, unknown>]
  const container = JSON.stringify(set)
  const paths = [...container.matchAll(/"path":"([^"]+)"/g)].map(([, path = '']) => path)
  expect(new Set(paths)).toEqual(new Set(['/readyz', '/healthz']))
  await withAgent(async ({ publicUrl }) => {
    for (const path of paths) expect((await fetch(`${publicUrl}${path}`)).status).toBe(200)
  })
  expect(container).toContain('"containerPort":7791')
  const image = textOf('deploy/Dockerfile')
  expect(image).toContain('0.0.0.0:7791')
  expect(image).toContain('http://127.0.0.1:7791/healthz')
  expect(textOf('deploy/prometheus/prometheus.yaml')).toContain('agent:7791')
})

test('each deployment runs one agent at a time, with time to finish a step, no privileges and a read-only root file system', () => {
  const [, , set] = documents('deploy/kubernetes/espalier-agent.yaml')
  expect(set).toMatchObject({
    kind: 'StatefulSet',
    spec: {
      replicas: 1,
      template: {
        spec: {
          automountServiceAccountToken: false,
          terminationGracePeriodSeconds: 630,
          securityContext: { runAsNonRoot: true },
          containers: [
            {
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
            },
          ],
        },
      },
    },
  })
  expect(documents('deploy/compose.yaml')[0]).toMatchObject({
    services: { agent: { read_only: true, cap_drop: ['ALL'], stop_grace_period: '10m30s' } },
  })
  expect(textOf('deploy/Dockerfile')).toMatch(/^USER 10001:10001$/m)
  expect(textOf('deploy/systemd/espalier-agent.service')).toMatch(/^TimeoutStopSec=630$/m)
})
