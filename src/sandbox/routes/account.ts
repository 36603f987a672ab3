/** Routes about the caller, and lists that do not depend on a project. */
import type { Hono } from 'hono'
import type { World } from '../world/world.ts'
import { checkUser, type Identity, identityOf, organizationIds } from './identity.ts'
import { seconds } from './present.ts'

const ACCOUNT_ID = 'sandbox'
const EMAIL = 'sandbox@example.com'
const EPOCH = seconds(0)

/** From the service's public documentation. */
const REGIONS: readonly (readonly [string, string])[] = [
  ['aws-us-east-1', 'AWS US East 1 (N. Virginia)'],
  ['aws-us-east-2', 'AWS US East 2 (Ohio)'],
  ['aws-us-west-2', 'AWS US West 2 (Oregon)'],
  ['aws-eu-central-1', 'AWS Europe Central 1 (Frankfurt)'],
  ['aws-eu-west-2', 'AWS Europe West 2 (London)'],
  ['aws-ap-southeast-1', 'AWS Asia Pacific 1 (Singapore)'],
  ['aws-ap-southeast-2', 'AWS Asia Pacific 2 (Sydney)'],
  ['aws-sa-east-1', 'AWS South America East 1 (São Paulo)'],
]

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
        default: region_id === 'aws-eu-central-1',
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

export const presentOrganization = (id: string) => ({
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
