/**
 * The routes that the service has but the sandbox does not, from the public OpenAPI document and the official clients.
 */
const ROUTES = `
POST                  /users/me/projects/transfer

GET PUT DELETE        /organizations/{}/billing/spending_limit
GET POST              /organizations/{}/invitations
GET                   /organizations/{}/members
GET PATCH DELETE      /organizations/{}/members/{}
POST                  /organizations/{}/projects/transfer
GET                   /organizations/{}/vpc/vpc_endpoints
GET                   /organizations/{}/vpc/region/{}/vpc_endpoints
GET POST DELETE       /organizations/{}/vpc/region/{}/vpc_endpoints/{}

GET                   /consumption_history/projects
GET                   /consumption_history/v2/projects
GET                   /consumption_history/v2/branches

GET                   /projects/{}/advisors
GET POST              /projects/{}/jwks
DELETE                /projects/{}/jwks/{}
GET                   /projects/{}/members
PUT DELETE            /projects/{}/members/{}/role
GET POST              /projects/{}/permissions
DELETE                /projects/{}/permissions/{}
POST                  /projects/{}/transfer_requests
PUT                   /projects/{}/transfer_requests/{}
GET                   /projects/{}/vpc_endpoints
POST DELETE           /projects/{}/vpc_endpoints/{}

POST                  /projects/{}/branches/{}/finalize_restore
POST                  /projects/{}/branches/{}/recover

GET                   /projects/{}/snapshots
PATCH DELETE          /projects/{}/snapshots/{}
POST                  /projects/{}/snapshots/{}/restore
POST                  /projects/{}/branches/{}/snapshot
GET PUT               /projects/{}/branches/{}/backup_schedule

POST                  /projects/{}/branch_anonymized
POST                  /projects/{}/branches/{}/anonymize
GET                   /projects/{}/branches/{}/anonymized_status
GET PATCH             /projects/{}/branches/{}/masking_rules

GET POST PATCH DELETE /projects/{}/branches/{}/data-api/{}

POST                  /projects/auth/create
POST                  /projects/auth/keys
POST                  /projects/auth/user
POST                  /projects/auth/transfer_ownership
GET POST DELETE       /projects/{}/auth/domains
GET PATCH             /projects/{}/auth/email_server
DELETE                /projects/{}/auth/integration/{}
GET                   /projects/{}/auth/integrations
GET POST              /projects/{}/auth/oauth_providers
PATCH DELETE          /projects/{}/auth/oauth_providers/{}
DELETE                /projects/{}/auth/users/{}
GET POST DELETE       /projects/{}/branches/{}/auth
GET PATCH             /projects/{}/branches/{}/auth/allow_localhost
PATCH                 /projects/{}/branches/{}/auth/config
GET POST DELETE       /projects/{}/branches/{}/auth/domains
GET PATCH             /projects/{}/branches/{}/auth/email_and_password
GET PATCH             /projects/{}/branches/{}/auth/email_provider
POST                  /projects/{}/branches/{}/auth/email_provider/test
GET POST              /projects/{}/branches/{}/auth/oauth_providers
PATCH DELETE          /projects/{}/branches/{}/auth/oauth_providers/{}
GET                   /projects/{}/branches/{}/auth/plugins
PATCH                 /projects/{}/branches/{}/auth/plugins/magic-link
PATCH                 /projects/{}/branches/{}/auth/plugins/organization
GET PATCH             /projects/{}/branches/{}/auth/plugins/phone-number
POST                  /projects/{}/branches/{}/auth/send_test_email
POST                  /projects/{}/branches/{}/auth/users
DELETE                /projects/{}/branches/{}/auth/users/{}
PUT                   /projects/{}/branches/{}/auth/users/{}/role
GET PUT               /projects/{}/branches/{}/auth/webhooks

GET                   /projects/{}/branches/{}/ai_gateway
GET                   /projects/{}/branches/{}/storage
GET POST              /projects/{}/branches/{}/buckets
DELETE                /projects/{}/branches/{}/buckets/{}
GET                   /projects/{}/branches/{}/buckets/{}/objects
DELETE                /projects/{}/branches/{}/buckets/{}/objects/{}
GET                   /projects/{}/branches/{}/buckets/{}/objects/{}/download
POST                  /projects/{}/branches/{}/buckets/{}/objects/{}/presign
DELETE                /projects/{}/branches/{}/buckets/{}/objects-by-prefix
GET POST              /projects/{}/branches/{}/credentials
DELETE                /projects/{}/branches/{}/credentials/{}
POST                  /projects/{}/branches/{}/credentials/{}/reveal
POST                  /projects/{}/branches/{}/credentials/{}/rotate
GET POST              /projects/{}/branches/{}/custom-domains
DELETE                /projects/{}/branches/{}/custom-domains/{}
GET                   /projects/{}/branches/{}/functions
GET PATCH DELETE      /projects/{}/branches/{}/functions/{}
POST                  /projects/{}/branches/{}/functions/{}/deployments
GET                   /projects/{}/branches/{}/logs/fields
GET                   /projects/{}/branches/{}/logs/fields/{}/values
POST                  /projects/{}/branches/{}/logs/query
GET POST              /projects/{}/branches/{}/triggers
GET PATCH DELETE      /projects/{}/branches/{}/triggers/{}
`

export interface ServiceRoute {
  readonly methods: readonly string[]
  /** The path below the API root. `{}` matches one segment. */
  readonly path: string
}

export const UNSERVED_ROUTES: readonly ServiceRoute[] = ROUTES.trim()
  .split(/\n+/)
  .map((line) => {
    const words = line.split(/ +/)
    return { methods: words.slice(0, -1), path: words.at(-1) ?? '' }
  })

/**
 * Finds the route of the service for a path below the API root, with all methods of the route. If several routes match,
 * the one with the fewest placeholders is used.
 *
 * @param served the routes of the sandbox.
 */
export const serviceRoute = (path: string, served: readonly ServiceRoute[]): ServiceRoute | undefined => {
  const segments = path.split('/')
  const matching = [...served, ...UNSERVED_ROUTES].filter((route) => {
    const wanted = route.path.split('/')
    if (wanted.length !== segments.length) return false
    return wanted.every((want, index) => (want === '{}' ? segments[index] !== '' : want === segments[index]))
  })
  const [best] = matching.toSorted((a, b) => placeholders(a) - placeholders(b))
  if (best === undefined) return undefined
  const methods = matching.flatMap((route) => (route.path === best.path ? route.methods : []))
  return { path: best.path, methods }
}

const placeholders = ({ path }: ServiceRoute): number => path.split('{}').length
