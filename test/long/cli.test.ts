/** Two major versions of the service's command-line tool: every command either works or reports what is not served. */
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { findPgBouncer } from '../../src/sandbox/computes/postgres/pooler.ts'
import { POSTGRES_BIN } from '../e2e/real-computes.ts'
import { type Cli, MAIN, ORG, openCli, PRIMARY, PROGRAMS, PROJECT, type Ran } from './run-cli.ts'

const P = `/projects/${PROJECT}`
const IN = ['--project-id', PROJECT]
/** The tools request a pooled connection string. */
const NO_POOLER = findPgBouncer() === undefined ? /need PgBouncer/ : undefined
const UNSERVED = /not available in (?:the|Espalier's) sandbox/
/** Whether a system program that some commands need is installed. */
const has = (name: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)))

interface Step {
  readonly line: string
  readonly more?: readonly string[]
  /** The expected error; without it, the command must succeed. */
  readonly refused?: RegExp | undefined
  /** Verifies the effect. */
  readonly check?: (ran: Ran, cli: Cli) => unknown
}

const branches = async (cli: Cli) =>
  (await cli.get(`${P}/branches`)).branches as readonly { id: string; name: string; [key: string]: unknown }[]
const branch = async (cli: Cli, name: string) => (await branches(cli)).find((found) => found.name === name)
const named = (name: string) => async (_ran: Ran, cli: Cli) => expect(await branch(cli, name)).toBeDefined()

const PAST = '2026-01-01T00:00:00Z'
const soon = (): string => `${new Date(Date.now() + 86_400_000).toISOString().slice(0, 19)}Z`

const STEPS: readonly Step[] = [
  { line: 'me', check: ({ json }) => expect(json.login).toBe('sandbox') },
  { line: 'orgs list', check: ({ json }) => expect(json).toMatchObject([{ id: ORG }]) },

  { line: `projects list --org-id ${ORG}`, check: ({ json }) => expect(json).toMatchObject([{ id: PROJECT }]) },
  { line: 'projects list --org-id org-nope-12345678', refused: /organization not found/ },
  { line: `projects get ${PROJECT}`, check: ({ json }) => expect(json.name).toBe('shop') },
  {
    line: `projects update ${PROJECT} --name store --cu 0.5-2`,
    check: async (_ran, { get }) =>
      expect((await get(P)).project).toMatchObject({
        name: 'store',
        default_endpoint_settings: { autoscaling_limit_min_cu: 0.5, autoscaling_limit_max_cu: 2 },
      }),
  },
  {
    line: 'projects create --name second --pg-version 17 --database app --role owner',
    check: async ({ json: { project } }, cli) => {
      const { id } = (await cli.get(`/projects/${project.id}/branches`)).branches[0]
      expect(project).toMatchObject({ name: 'second', pg_version: 17 })
      expect((await cli.get(`/projects/${project.id}/branches/${id}/databases`)).databases).toMatchObject([
        { name: 'app', owner_name: 'owner' },
      ])
      await expect.poll(async () => (await cli.run(['projects', 'delete', project.id])).code).toBe(0)
      expect((await cli.get(`/projects/${project.id}`)).message).toBe('project not found')
      expect((await cli.run(['projects', 'list', '--recoverable-only'])).json).toMatchObject([{ id: project.id }])
      expect((await cli.run(['projects', 'recover', project.id])).code).toBe(0)
      expect((await cli.get(`/projects/${project.id}`)).project.name).toBe('second')
    },
  },
  { line: 'projects create --name old --pg-version 16', refused: /pg_version/ },
  {
    line: `ip-allow add 192.0.2.7 ${IN.join(' ')}`,
    check: async (_ran, { get }) =>
      expect((await get(P)).project.settings.allowed_ips).toMatchObject({ ips: ['192.0.2.7'] }),
  },
  { line: 'ip-allow list', more: IN, check: ({ json }) => expect(json.IP_addresses).toEqual(['192.0.2.7']) },
  {
    line: 'ip-allow remove 192.0.2.7',
    more: IN,
    check: async (_ran, { get }) => expect((await get(P)).project.settings.allowed_ips.ips).toEqual([]),
  },

  {
    line: 'branches create --name dev --cu 1 --suspend-timeout 300',
    more: IN,
    check: ({ json }) =>
      expect(json).toMatchObject({
        branch: { name: 'dev', parent_id: MAIN },
        endpoints: [{ autoscaling_limit_min_cu: 1, suspend_timeout_seconds: 300 }],
        connection_uris: [{ connection_uri: expect.stringMatching(/^postgresql:/) }],
      }),
  },
  { line: 'branches create --name dev', more: IN, refused: /branch already exists/ },
  {
    line: 'branches create --name empty --no-compute',
    more: IN,
    check: async ({ json }, { get }) => expect((await get(`${P}/branches/${json.id}/endpoints`)).endpoints).toEqual([]),
  },
  {
    line: 'branches create --name bare --schema-only',
    more: IN,
    check: async (_ran, cli) => {
      const bare = await branch(cli, 'bare')
      expect(bare).toMatchObject({ init_source: 'schema-only' })
      expect(bare).not.toHaveProperty('parent_id')
    },
  },
  { line: `branches create --name past --parent ${PAST}`, more: IN, refused: /keep no history/ },
  { line: `branches create --name past --parent 0/1DE2850`, more: IN, refused: /keep no history/ },
  {
    line: `branches create --name short --no-compute --expires-at ${soon()}`,
    more: IN,
    check: async (_ran, cli) => expect((await branch(cli, 'short'))?.ttl_interval_seconds).toBeGreaterThan(80_000),
  },
  { line: 'branches list', more: IN, check: ({ json }) => expect(json).toHaveLength(5) },
  { line: 'branches get dev', more: IN, check: ({ json }) => expect(json.name).toBe('dev') },
  { line: 'branches rename dev qa', more: IN, check: named('qa') },
  {
    line: `branches set-expiration qa --expires-at ${soon()}`,
    more: IN,
    check: async (_ran, cli) => expect(await branch(cli, 'qa')).toHaveProperty('expires_at'),
  },
  {
    line: 'branches set-expiration qa',
    more: IN,
    check: async (_ran, cli) => expect(await branch(cli, 'qa')).not.toHaveProperty('expires_at'),
  },
  {
    line: 'branches reset qa --parent',
    more: IN,
    check: async (_ran, cli) => expect(await branch(cli, 'qa')).toMatchObject({ parent_id: MAIN }),
  },
  { line: 'branches reset qa --parent --preserve-under-name qa_old', more: IN, check: named('qa_old') },
  {
    line: 'branches restore qa main',
    more: IN,
    check: async (_ran, cli) => expect(await branch(cli, 'qa')).toMatchObject({ parent_id: MAIN }),
  },
  { line: `branches restore qa ^self@${PAST} --preserve-under-name x`, more: IN, refused: /keep no history/ },
  {
    line: 'branches set-default qa',
    more: IN,
    check: async (_ran, cli) => expect(await branch(cli, 'qa')).toMatchObject({ default: true }),
  },
  {
    line: 'branches set-default main',
    more: IN,
    check: async (_ran, cli) => expect(await branch(cli, 'main')).toMatchObject({ default: true }),
  },
  {
    line: 'branches add-compute empty --type read_write --cu 0.25-2',
    more: IN,
    check: ({ json }) => expect(json).toMatchObject({ type: 'read_write', autoscaling_limit_max_cu: 2 }),
  },
  {
    line: 'branches delete short',
    more: IN,
    check: async (_ran, cli) => expect(await branch(cli, 'short')).toBeUndefined(),
  },

  { line: 'operations list', more: IN, check: ({ json }) => expect(json.length).toBeGreaterThan(10) },
  {
    line: `api ${P}/endpoints/${PRIMARY} -X PATCH -F endpoint.autoscaling_limit_max_cu=2`,
    check: ({ json }) => expect(json.operations).toMatchObject([{ action: 'apply_config' }]),
  },
  {
    line: `api ${P}/endpoints/${PRIMARY}/restart -X POST`,
    check: ({ json }) => expect(json.operations).toHaveLength(2),
  },
  {
    line: `api ${P}/endpoints/${PRIMARY}/suspend -X POST`,
    check: ({ json }) => expect(json.operations).toMatchObject([{ action: 'suspend_compute' }]),
  },
  {
    line: `api ${P}/endpoints/${PRIMARY}/start -X POST`,
    check: ({ json }) => expect(json.operations).toMatchObject([{ action: 'start_compute' }]),
  },

  {
    line: 'roles create --name app --branch main',
    more: IN,
    check: ({ json }) => expect(json).toMatchObject({ name: 'app', password: expect.any(String) }),
  },
  { line: 'roles list --branch main', more: IN, check: ({ json }) => expect(json).toHaveLength(2) },
  {
    line: 'databases create --name orders --owner-name app --branch main',
    more: IN,
    check: ({ json }) => expect(json).toMatchObject({ name: 'orders', owner_name: 'app' }),
  },
  { line: 'databases list --branch main', more: IN, check: ({ json }) => expect(json).toHaveLength(2) },
  {
    line: 'databases delete orders --branch main',
    more: IN,
    check: async (_ran, { get }) => expect((await get(`${P}/branches/${MAIN}/databases`)).databases).toHaveLength(1),
  },
  {
    line: 'roles delete app --branch main',
    more: IN,
    check: async (_ran, { get }) => expect((await get(`${P}/branches/${MAIN}/roles`)).roles).toHaveLength(1),
  },

  {
    line: 'connection-string main --extended',
    more: IN,
    check: async ({ json }, { get }) => {
      const { password } = await get(`${P}/branches/${MAIN}/roles/neondb_owner/reveal_password`)
      expect(json).toMatchObject({ password, database: 'neondb', host: expect.stringContaining(PRIMARY) })
    },
  },
  {
    line: 'connection-string main --pooled',
    more: IN,
    check: ({ stdout }) => expect(stdout).toContain(`${PRIMARY}-pooler.`),
  },
  { line: 'connection-string main --endpoint-type read_only', more: IN, refused: /No read_only endpoint/ },

  {
    line: `link --project-id ${PROJECT} --org-id ${ORG} -y`,
    check: async (_ran, { folder }) => expect(await readFile(join(folder, '.neon'), 'utf8')).toContain(PROJECT),
  },
  {
    line: 'checkout qa',
    check: async (_ran, cli) => {
      const pinned = await readFile(join(cli.folder, '.neon'), 'utf8')
      expect(pinned).toMatch(new RegExp(`qa|${(await branch(cli, 'qa'))?.id}`))
    },
  },
  {
    line: 'env pull',
    refused: NO_POOLER,
    check: async (_ran, cli) => {
      if (NO_POOLER !== undefined) return
      const [, url = ''] =
        /^DATABASE_URL_UNPOOLED="?([^"\n]+)/m.exec(await readFile(join(cli.folder, '.env.local'), 'utf8')) ?? []
      const id = (await branch(cli, 'qa'))?.id ?? ''
      const login = 'database_name=neondb&role_name=neondb_owner'
      expect(url).toBe((await cli.get(`${P}/connection_uri?branch_id=${id}&${login}`)).uri)
    },
  },
  { line: 'status', check: ({ json }) => expect(json).toMatchObject({ branch: { name: 'qa' } }) },
  { line: 'config status', check: ({ json }) => expect(json).toMatchObject({ branch: { name: 'qa' } }) },
  { line: 'config plan --config neon.mjs', check: ({ stdout }) => expect(stdout).toContain('autoscaling') },
  {
    line: 'deploy --config neon.mjs --update-existing',
    check: async (_ran, cli) => {
      const { endpoints } = await cli.get(`${P}/branches/${(await branch(cli, 'qa'))?.id}/endpoints`)
      expect(endpoints).toMatchObject([{ autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 }])
    },
  },

  {
    line: 'api-keys create --name ci',
    check: async ({ json }, cli) => {
      const opened = await fetch(`${cli.sandbox.apiUrl}/users/me`, { headers: { authorization: `Bearer ${json.key}` } })
      expect(opened.status).toBe(200)
      expect((await cli.run(['api-keys', 'list'])).json).toMatchObject([{ id: json.id, name: 'ci' }])
      expect((await cli.run(['api-keys', 'revoke', String(json.id)])).code).toBe(0)
      const closed = await fetch(`${cli.sandbox.apiUrl}/users/me`, { headers: { authorization: `Bearer ${json.key}` } })
      expect(closed.status).toBe(401)
    },
  },

  { line: 'snapshots list', more: IN, refused: UNSERVED },
  { line: 'snapshots create --branch main', more: IN, refused: UNSERVED },
  { line: 'vpc project list', more: IN, refused: UNSERVED },
  { line: `vpc endpoint list --org-id ${ORG} --region-id aws-eu-central-1`, refused: UNSERVED },
  { line: 'logs query', more: IN, refused: UNSERVED },
  { line: 'data-api get', more: IN, refused: UNSERVED },
  { line: 'data-api create', more: IN, refused: UNSERVED },
]

test.each(PROGRAMS)('%s runs every command against real computes', async (_version, program) => {
  const cli = await openCli(program, {
    computes: { kind: 'postgres', ...(POSTGRES_BIN === undefined ? {} : { bin: POSTGRES_BIN }) },
  })
  await writeFile(
    join(cli.folder, 'neon.mjs'),
    'export default { branch: () => ({ postgres: { computeSettings: { autoscalingLimitMinCu: 2, autoscalingLimitMaxCu: 2 } } }) }\n',
  )
  for (const step of STEPS) await expectStep(cli, step)
  await expectStep(cli, {
    line: 'psql main -- -Atc',
    more: ['SELECT 6 * 7'],
    ...(has('psql') ? { check: ({ stdout }) => expect(stdout.trim()).toBe('42') } : { refused: /./ }),
  })
  const dumps = has('pg_dump') ? /pg_dump|^$/ : /pg_dump/
  for (const line of ['branches schema-diff main qa', 'diff main']) {
    const ran = await cli.run([...line.split(' '), ...IN])
    if (ran.code !== 0) expect(ran.stderr, line).toMatch(dumps)
    else expect(ran.stdout, line).not.toContain('"has_changes": true')
  }
  expect([...new Set(cli.problems)]).toEqual([])
})

test.each(PROGRAMS)('%s restores simulated computes to an earlier point in time', async (_version, program) => {
  const cli = await openCli(program, {})
  const moment = async (): Promise<string> => {
    const { created_at } = (await cli.get(`${P}/branches/${MAIN}`)).branch
    return created_at
  }
  await expectStep(cli, {
    line: `branches create --name past --parent ${await moment()}`,
    more: IN,
    check: async (_ran, of) => expect(await branch(of, 'past')).toMatchObject({ parent_timestamp: await moment() }),
  })
  await expectStep(cli, {
    line: `branches restore past ^self@${(await branch(cli, 'past'))?.created_at} --preserve-under-name past_old`,
    more: IN,
    check: async ({ json }, of) => {
      const backup = await branch(of, 'past_old')
      expect(json).toMatchObject({ restored_branch: { parent_id: backup?.id }, backup_branch: { id: backup?.id } })
    },
  })
  await expectStep(cli, { line: 'diff past', more: IN, refused: /simulates this compute/ })
  expect([...new Set(cli.problems)]).toEqual([])
})

const expectStep = async (cli: Cli, { line, more = [], refused, check }: Step): Promise<void> => {
  await cli.settled()
  const port = (await cli.sandbox.control.computes())[0]?.address?.sharedPort
  const args = [...line.split(' '), ...more]
  // Arguments after `--` go to psql.
  const at = args.indexOf('--')
  const all = at < 0 ? args : [...IN, ...args]
  const ran = await cli.run(all, port === undefined ? {} : { PGHOSTADDR: '127.0.0.1', PGPORT: String(port) })
  const said = `${line}\n${ran.stdout}${ran.stderr}`
  if (refused === undefined) expect(ran.code, said).toBe(0)
  else {
    expect(ran.code, said).not.toBe(0)
    expect(`${ran.stdout}${ran.stderr}`, line).toMatch(refused)
  }
  // Shows the command if the check fails.
  await Promise.resolve(check?.(ran, cli)).catch((error: unknown) => {
    throw new Error(said, { cause: error })
  })
}
