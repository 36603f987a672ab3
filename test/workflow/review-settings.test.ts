/** The overrides, limits and earlier policies that a plan is reviewed with. */
import { expect, test } from 'vitest'
import { parseManifests, parsePolicies } from '../../src/manifest/index.ts'
import { withReview } from '../../src/workflow/index.ts'
import type { Manifests } from '../../src/workflow/manifests.ts'
import { checkOverrides, withEarlier, withoutMaxRestarts } from '../../src/workflow/review-settings.ts'

const policies = (name: string, more = '') => {
  const text = `version: 1\npolicies:\n  - { name: ${name}, level: deny, reason: Calm., rule: { maxRestarts: 1 }${more} }\n`
  return { files: ['p.yaml'], policies: parsePolicies([{ path: 'p.yaml', text }]).policies }
}
const manifests = (review?: Manifests['review'], text = 'version: 1\nproject: shop-1\n'): Manifests => ({
  loaded: parseManifests([{ path: 'a.yaml', text }]),
  paths: ['a.yaml'],
  ...(review && { review }),
})
const OWN = manifests({ policies: policies('calm') })
const env = { GITHUB_ACTOR: 'ada', USER: 'root' }

test('overrides are recorded with the user who makes them', async () => {
  const override = ['calm=Agreed.']
  const actor = async (env: Readonly<Record<string, string>>) =>
    (await withReview(OWN, { override }, { env })).review?.actor
  expect((await withReview(OWN, { override }, { env })).review?.overrides).toEqual(new Map([['calm', 'Agreed.']]))
  expect(await actor(env)).toBe('ada')
  expect(await actor({ USER: 'root' })).toBe('root')
  expect(await actor({ GITHUB_ACTOR: 'ada' })).toBe('ada')
  expect(await actor({})).toMatch(/./)
  expect((await withReview(OWN, {}, { env })).review).toEqual(OWN.review)
})

test('an override of an unknown policy is rejected, unless the base or manifests with errors may define it', async () => {
  const asked = { override: ['other=Agreed.'] }
  const rejected = { code: 'E_OVERRIDE' }
  await expect(withReview(OWN, asked, { env })).rejects.toMatchObject(rejected)
  await expect(withReview(manifests(), asked, { env })).rejects.toMatchObject(rejected)
  expect((await withReview(OWN, asked, { env, hasBase: true })).review?.overrides?.size).toBe(1)
  const broken = manifests({}, 'version: 1\nproject: 3\n')
  expect((await withReview(broken, asked, { env })).review?.overrides?.size).toBe(1)
})

// hint: Give one reason for each policy.
test('a policy can be overridden only once, because one of two reasons would be lost', async () => {
  const twice = { override: ['calm=Agreed.', 'calm=Urgent.'] }
  await expect(withReview(OWN, twice, { env })).rejects.toMatchObject({
    code: 'E_OVERRIDE',
    message: 'The policy `calm` is overridden twice.',
  })
  const once = { override: ['calm=Agreed, and urgent.'] }
  expect((await withReview(OWN, once, { env })).review?.overrides?.get('calm')).toBe('Agreed, and urgent.')
})

test('an override may name a policy of the base, an earlier one or the limit of the run', async () => {
  const overriding = async (name: string, maxRestarts?: number) =>
    withReview(manifests(), { override: [`${name}=Agreed.`], maxRestarts }, { env, hasBase: true })
  const calm = await overriding('calm')
  expect(() => checkOverrides(calm, undefined)).toThrow(/calm/)
  expect(() => checkOverrides(calm, OWN)).not.toThrow()
  expect(() => checkOverrides(withEarlier(calm, [{ manifests: OWN }]))).not.toThrow()
  const limit = await overriding('max-restarts', 2)
  expect(() => checkOverrides(limit)).not.toThrow()
  expect(() => checkOverrides(withoutMaxRestarts(limit))).not.toThrow()
})

test('a policy that limits a day is only for the agent', async () => {
  const daily = manifests({ policies: policies('calm', ', per: day') })
  await expect(withReview(daily, {}, { env })).rejects.toMatchObject({
    code: 'E_POLICY_RULE',
    message: expect.stringMatching(/p\.yaml:3.*`calm` limits a day/),
  })
})

test('without the limit of the run, its override is left out, and others are kept', async () => {
  const override = ['calm=Agreed.', 'max-restarts=Agreed.']
  const limited = await withReview(OWN, { override, maxRestarts: 3 }, { env })
  expect(limited.review?.maxRestarts?.rule).toEqual({ kind: 'maxRestarts', limit: 3 })
  expect(withoutMaxRestarts(limited).review).toEqual({
    ...{ ...OWN.review, actor: 'ada' },
    overrides: new Map([['calm', 'Agreed.']]),
  })
  expect(withoutMaxRestarts(OWN)).toBe(OWN)
  const only = await withReview(manifests(), { maxRestarts: 3 }, { env })
  expect(withoutMaxRestarts(only).review).toEqual({ overrides: new Map() })
})

test('policies of earlier commits are added if they differ from the present ones', () => {
  const other = manifests({ policies: policies('other') })
  const changes = new Set(['c'])
  const earlier = (...all: Parameters<typeof withEarlier>[1]) => withEarlier(OWN, all).review?.earlier
  expect(withEarlier(OWN, [{ manifests: OWN }])).toBe(OWN)
  expect(earlier({ manifests: OWN }, { manifests: other, changes })).toEqual([{ ...policies('other'), changes }])
  expect(earlier({ manifests: manifests() })).toEqual([{ files: [], policies: [] }])
  expect(withEarlier(manifests(), [{ manifests: OWN }]).review).toEqual({ earlier: [policies('calm')] })
  expect(withEarlier(manifests(), [{ manifests: manifests() }]).review).toBeUndefined()
})
