/** Follows the hints of plans, and of the commands that write manifests. See scripts/hints.ts. */
import { execFileSync } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { manualClock, type Seed } from '../../src/sandbox/index.ts'
import { espalier } from '../e2e/espalier.ts'
import { environmentOf } from '../e2e/real-computes.ts'
import { liveComputes, printed, SHOP, type Stage, stage } from '../e2e/stage.ts'

const PRIMARY = 'branches: { main: { primary: { size: 2 } } }'
const BOTH = 'branches: { main: { primary: { size: 1 } }, staging: { primary: { size: 1 } } }'

const commit = (folder: string): void => {
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: folder })
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'first')
}

const committed = async (body: string): Promise<Stage> => {
  const shop = await stage(body)
  commit(shop.folder)
  return shop
}

describe('a difference from git', () => {
  // hint: To see the introduced changes, run `espalier plan`.
  test('is shown by plan --base', async () => {
    const shop = await committed(BOTH)
    await shop.declare(PRIMARY)
    const refused = await shop.run('apply', '--base', 'main')
    expect(refused.text).toContain('To see the introduced changes, run `espalier plan --base main`.')
    expect((await shop.run('plan', '--base', 'main')).text).toContain('Introduced since main: 1 change')
  })

  // hint: The manifests introduced the differences. To apply them, run `espalier apply`.
  test('that the manifests introduced is applied', async () => {
    const shop = await committed(BOTH)
    await shop.declare(BOTH.replace('size: 1', 'size: 2'))
    const drift = await shop.run('drift')
    await shop.follow(drift, 'To apply them, run `', '--auto-approve')
    expect((await shop.run('plan')).text).toContain('No changes.')
    expect((await shop.run('drift')).text).not.toContain('To apply them')
  })

  // hint: To accept that a compute was deleted, delete its entry at …. If the entry is in a rule, add the branch to the rule's `except` instead.
  test('that consists of deleted computes is accepted by deleting their entries', async () => {
    const deletes = (shop: Stage, id: string) => shop.run('compute', 'delete', id, '--yes')
    const declared = 'branches:\n  main: { primary: { size: 1 } }\n  staging:\n    primary: { size: 1 }\n'
    const rule = (except: string) => `rules:\n  - match: "s*"\n    except: [${except}]\n    primary: { size: 1 }\n`
    for (const [before, line, after] of [
      [declared, 6, declared.replace('    primary: { size: 1 }\n', '    protect: true\n')],
      [rule('spare'), 6, rule('spare, staging')],
    ] as const) {
      const shop = await stage(before)
      expect((await deletes(shop, 'ep-staging')).code).toBe(0)
      commit(shop.folder)
      const drift = await shop.run('drift')
      expect(drift.text).toContain(
        `a compute was deleted, delete its entry at espalier.yaml:${line}. If the entry is in`,
      )
      expect(drift.text).not.toContain('espalier import')
      await shop.declare(after)
      expect((await shop.run('drift')).code).toBe(0)
      expect((await shop.run('plan')).text).toContain('No changes.')
    }
  })

  // hint: To delete one, keep its branch in the manifest and declare it `absent`
  test('that releases a compute can delete it instead', async () => {
    const shop = await committed(BOTH)
    await shop.declare(BOTH.replace(', staging: { primary: { size: 1 } }', ''))
    const planned = await shop.run('plan', '--base', 'main')
    expect(planned.text).toContain('keep its branch in the manifest and declare it `absent`: `primary: absent`')
    await shop.declare(BOTH.replace('staging: { primary: { size: 1 } }', 'staging: { primary: absent }'))
    await shop.run('apply', '--auto-approve', '--allow', 'delete')
    expect(await liveComputes(shop)).toEqual(['ep-bi', 'ep-main'])
  })
})

describe('a setting that is not available', () => {
  // hint: Add `scaleToZero: never`, or choose a smaller size.
  test('with a large size is declared with scaleToZero, or smaller', async () => {
    const shop = await stage('branches: { spare: { primary: { size: 18 } } }')
    expect((await shop.run('plan')).text).toContain('Add `scaleToZero: never`, or choose a smaller size.')
    for (const primary of ['{ size: 18, scaleToZero: never }', '{ size: 8 }']) {
      await shop.declare(`branches: { spare: { primary: ${primary} } }`)
      expect((await shop.run('plan')).text).toContain('1 to create')
    }
  })

  // hint: Write `scaleToZero: …`. …
  // hint: If the limit is outdated, set `tier: none` in the manifest to disable the check.
  test('on the tier is replaced, or no longer checked', async () => {
    const never = 'branches: { spare: { primary: { size: 1, scaleToZero: never } } }'
    const shop = await stage(`tier: free\n${never}`)
    const { text } = await shop.run('plan')
    const [, suggested = ''] =
      /Write `(scaleToZero: \w+)`\. If the limit is outdated, set `tier: none`/.exec(text) ?? []
    await shop.declare(`tier: free\n${never.replace('scaleToZero: never', suggested)}`)
    expect((await shop.run('plan')).text).toContain('1 to create')
    await shop.declare(`tier: none\n${never}`)
    expect((await shop.run('plan')).text).toContain('1 to create')
  })
})

// hint: … twice: on … for a service update, and … for this change. To restart once, run `espalier apply --now` before the update
test('a restart before the service update applies it too', async () => {
  const day = 86_400_000
  const maintenance = new Date(Date.now() + 2 * day).toISOString()
  const seed: Seed = { projects: SHOP.projects.map((project) => ({ ...project, maintenance })) }
  const days = new Intl.DateTimeFormat('en', { weekday: 'short', timeZone: 'UTC' })
  const later = days.format(Date.now() + 4 * day).toLowerCase()
  const window = `restartWindow: { days: [${later}], from: "00:00", to: "24:00", timezone: UTC }`
  // An update restarts only computes that have been active for 30 days.
  const clock = manualClock(Date.now() - 30 * day)
  clock.scale = 100
  const shop = await stage(`${window}\n${PRIMARY}`, seed, { clock, background: false })
  const planned = await shop.run('plan')
  expect(planned.text).toContain('restarts twice: on ')
  const applied = await shop.follow(planned, 'To restart once, run `', '--auto-approve')
  expect(applied.text).toContain('Apply complete: 1 done.')
  expect((await shop.run('plan')).text).not.toContain('restarts twice')
})

// hint: If you trust it, name the manifests yourself: `espalier apply … …`.
test('a saved plan of another folder is applied with its manifests', async () => {
  const shop = await stage(PRIMARY)
  const plans = join(shop.folder, 'plans')
  await mkdir(plans)
  const run = async (...args: readonly string[]) => printed(await espalier(args, environmentOf(shop.sandbox), plans))
  await run('plan', '../espalier.yaml', '--out', 'plan.json')
  const refused = await run('apply', 'plan.json', '--auto-approve')
  const [, suggested = ''] = /name the manifests yourself: `espalier (.+)`/.exec(refused.text) ?? []
  expect((await run(...suggested.split(' '), '--auto-approve')).text).toContain('Apply complete: 1 done.')
})

describe('init', () => {
  // hint: to add live computes to it, run `espalier import --project ID --out FILE`
  // hint: `espalier plan` shows what would change
  test('keeps a manifest, to which import adds the live computes', async () => {
    const shop = await stage('branches: { main: { primary: { size: 1 } } }')
    const started = await shop.run('init', '--manifests-only')
    expect(started.text).toContain('espalier import --project ID --out FILE')
    expect((await shop.run('import', '--project', 'shop', '--out', 'espalier.yaml')).code).toBe(0)
    const planned = await shop.follow(started, '1. `', '--detail')
    expect(planned.text).toContain('No changes.')
    expect(planned.text).toContain('3 computes managed')
  })

  // hint: Set ESPALIER_API_KEY, or run `espalier init --project ID`. To try Espalier without an account, add --sandbox=SEED.yaml.
  // hint: fill in …, or set ESPALIER_API_KEY and run `espalier import --project ID --out …`
  test('without a key writes a manifest, which import fills in', async () => {
    const shop = await stage()
    const init = async (...args: readonly string[]) =>
      printed(await espalier(['init', '--manifests-only', ...args], {}, shop.folder))
    expect((await init()).text).toContain('or run `espalier init --project ID --manifests-only`')
    const started = await init('--project', 'shop')
    expect(started.code).toBe(0)
    const [, suggested = ''] = /set ESPALIER_API_KEY and run `espalier ([^`]+)`/.exec(started.text) ?? []
    expect((await shop.run(...suggested.replace('ID', 'shop').split(' '))).code).toBe(0)
    expect((await shop.run('plan', '--detail')).text).toMatch(/3 computes managed.* No changes\./)
    await rm(join(shop.folder, 'espalier.yaml'))
    await shop.write('seed.yaml', JSON.stringify(SHOP))
    expect((await init('--sandbox=seed.yaml')).text).toContain('3 computes; its plan is empty')
  })

  // hint: workflows must be in the root of the repository, so run `espalier init` there
  test('writes workflows in the root of the repository', async () => {
    const shop = await committed(PRIMARY)
    await mkdir(join(shop.folder, 'db'))
    const args = ['init', '--project', 'shop']
    const inside = printed(await espalier(args, environmentOf(shop.sandbox), join(shop.folder, 'db')))
    expect((await shop.follow(inside, 'so run `')).text).toContain('written .github/workflows/espalier-plan.yml')
  })
})

// hint: To add live computes to …, run `espalier import --project … --out …`
test('import adds live computes to a manifest that exists', async () => {
  const shop = await stage()
  await mkdir(join(shop.folder, 'espalier'))
  await shop.write('espalier/shop.yaml', 'version: 1\nproject: shop\nbranches: { main: { primary: { size: 1 } } }\n')
  const imported = await shop.run('import', '--project', 'sho*')
  expect((await shop.follow(imported, 'To add live computes to it, run `')).code).toBe(0)
  expect((await shop.run('plan', '--detail')).text).toMatch(/3 computes managed.* No changes\./)
})

test.each(['status', 'cost', 'plan'])('%s reports an error that projects share once', async (command) => {
  const shop = await stage()
  await shop.write(
    'espalier.yaml',
    'version: 1\nprojects: [gone-1, gone-2, gone-3]\nbranches: { main: { primary: {} } }\n',
  )
  const { code, text } = await shop.run(command)
  expect(code).toBe(1)
  expect(text.match(/E_PROJECT_UNKNOWN/g)).toHaveLength(1)
  expect(text).toContain('The same error in 2 other projects: gone-2, gone-3.')
})
