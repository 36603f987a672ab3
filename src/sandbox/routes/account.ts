/** Routes about the caller, API keys and organizations. */
import type { Context, Hono } from 'hono'
import { z } from 'zod'
import { createKey, type KeyOwner, listKeys, numberOf, revokeKey } from '../world/key-commands.ts'
import { DEFAULT_REGION, REGIONS } from '../world/project-commands.ts'
import type { KeyRecord } from '../world/records.ts'
import { id } from '../world/requests.ts'
import type { World } from '../world/world.ts'
import { checkOrganization, checkUser, type Identity, identityOf, organizationIds } from './identity.ts'
import { seconds } from './present.ts'
import { readBody } from './request.ts'

const ACCOUNT_ID = 'sandbox'
const EMAIL = 'sandbox@example.com'
const EPOCH = seconds(0)

export const accountRoutes = (api: Hono, world: World): void => {
  api.get('/auth', (context) => {
    const identity = identityOf(context)
    return context.json({ account_id: accountOf(identity), auth_method: methodOf(identity) })
  })
  api.get('/users/me', (context) => {
    checkUser(identityOf(context))
    return context.json({
      id: ACCOUNT_ID,
      login: ACCOUNT_ID,
      email: EMAIL,
      name: 'Sandbox',
      last_name: '',
      image: '',
      plan: 'launch',
      active_seconds_limit: 0,
      projects_limit: 100,
      branches_limit: 5_000,
      max_autoscaling_limit: 16,
      auth_accounts: [],
      billing_account: NO_BILLING,
    })
  })
  api.get('/users/me/organizations', (context) => {
    checkUser(identityOf(context))
    return context.json({ organizations: organizationIds(world).map(presentOrganization) })
  })
  api.get('/regions', (context) =>
    context.json({
      regions: REGIONS.map(([region_id, name]) => ({
        region_id,
        name,
        default: region_id === DEFAULT_REGION,
        geo_lat: '0',
        geo_long: '0',
      })),
    }),
  )
}

/** Optional in the OpenAPI document, but clients generated from an older version (`neon-api` on PyPI) require it. */
const NO_BILLING = {
  state: 'UNKNOWN',
  payment_source: { type: '' },
  subscription_type: 'UNKNOWN',
  payment_method: 'none',
  quota_reset_at_last: EPOCH,
  name: '',
  email: EMAIL,
  address_city: '',
  address_country: '',
  address_line1: '',
  address_line2: '',
  address_postal_code: '',
  address_state: '',
}

const presentOrganization = (id: string) => ({
  id,
  name: id,
  handle: id,
  plan: 'launch',
  managed_by: 'console',
  created_at: EPOCH,
  updated_at: EPOCH,
})

const accountOf = (identity: Identity): string =>
  identity.of === 'organization' ? identity.orgId : identity.of === 'project' ? identity.projectId : ACCOUNT_ID

/** Project-scoped keys belong to organizations (docs of the service). */
const methodOf = ({ of }: Identity): string =>
  of === 'organization' || of === 'project' ? 'api_key_org' : 'api_key_user'

const keyBody = z.object({ key_name: z.string().max(64) })
const orgKeyBody = keyBody.extend({ project_id: id.optional() })
/** The sandbox has only one user. */
const USER = '00000000-0000-4000-8000-000000000001'
const CREATOR = { id: USER, name: 'Sandbox', image: '' }

export const keyRoutes = (api: Hono, world: World, keyUse: ReadonlyMap<string, number>): void => {
  const present = (key: KeyRecord) => {
    const usedAt = keyUse.get(key.id)
    return {
      ...shown(key),
      last_used_at: usedAt === undefined ? null : seconds(usedAt),
      last_used_from_addr: usedAt === undefined ? '' : '127.0.0.1',
    }
  }
  const mine = (context: Context): KeyOwner => {
    checkUser(identityOf(context))
    return { orgId: undefined }
  }
  const ofOrganization = (context: Context): { readonly orgId: string } => {
    const orgId = context.req.param('org') ?? ''
    checkOrganization(identityOf(context), orgId, world)
    return { orgId }
  }

  api.get('/organizations/:org', (context) => context.json(presentOrganization(ofOrganization(context).orgId)))
  const lists = [
    ['/api_keys', mine, keyBody],
    ['/organizations/:org/api_keys', ofOrganization, orgKeyBody],
  ] as const
  for (const [path, ownerOf, body] of lists) {
    api.get(path, (context) =>
      context.json(listKeys(world, ownerOf(context)).map((key) => ({ ...present(key), created_by: CREATOR }))),
    )
    api.post(path, async (context) => {
      const owner = ownerOf(context)
      const { key_name, project_id } = await readBody<z.output<typeof orgKeyBody>>(context, body)
      const { key, record } = createKey(world, owner, key_name, project_id)
      return context.json({ ...shown(record), created_by: USER, key })
    })
    api.delete(`${path}/:key`, (context) => {
      const revoked = revokeKey(world, ownerOf(context), context.req.param('key') ?? '')
      return context.json({ ...present(revoked), created_by: USER, revoked: true })
    })
  }
}

const shown = (key: KeyRecord) => ({
  id: numberOf(key),
  name: key.name,
  created_at: seconds(key.createdAt),
  project_id: key.projectId,
})
