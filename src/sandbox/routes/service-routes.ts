/**
 * All routes of the service, from its public OpenAPI document and its official clients. They let the sandbox say
 * whether it lacks a route or the route does not exist. `{}` matches one segment.
 */
const ROUTES = `
GET                   /auth
GET                   /regions
GET                   /users/me
GET                   /users/me/organizations
POST                  /users/me/projects/transfer

GET POST              /api_keys
DELETE                /api_keys/{}

GET                   /organizations/{}
GET POST              /organizations/{}/api_keys
DELETE                /organizations/{}/api_keys/{}
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

GET POST              /projects
GET                   /projects/shared
GET PATCH DELETE      /projects/{}
POST                  /projects/{}/recover
GET                   /projects/{}/advisors
GET                   /projects/{}/available_preload_libraries
GET                   /projects/{}/connection_uri
GET POST              /projects/{}/jwks
DELETE                /projects/{}/jwks/{}
GET                   /projects/{}/members
PUT DELETE            /projects/{}/members/{}/role
GET                   /projects/{}/operations
GET                   /projects/{}/operations/{}
GET POST              /projects/{}/permissions
DELETE                /projects/{}/permissions/{}
POST                  /projects/{}/transfer_requests
PUT                   /projects/{}/transfer_requests/{}
GET                   /projects/{}/vpc_endpoints
POST DELETE           /projects/{}/vpc_endpoints/{}

GET POST              /projects/{}/endpoints
GET PATCH DELETE      /projects/{}/endpoints/{}
POST                  /projects/{}/endpoints/{}/start
POST                  /projects/{}/endpoints/{}/suspend
POST                  /projects/{}/endpoints/{}/restart

GET POST              /projects/{}/branches
GET                   /projects/{}/branches/count
GET PATCH DELETE      /projects/{}/branches/{}
GET                   /projects/{}/branches/{}/endpoints
GET                   /projects/{}/branches/{}/schema
GET                   /projects/{}/branches/{}/compare_schema
POST                  /projects/{}/branches/{}/set_as_default
POST                  /projects/{}/branches/{}/restore
POST                  /projects/{}/branches/{}/finalize_restore
POST                  /projects/{}/branches/{}/recover
GET POST              /projects/{}/branches/{}/databases
GET PATCH DELETE      /projects/{}/branches/{}/databases/{}
GET POST              /projects/{}/branches/{}/roles
GET DELETE            /projects/{}/branches/{}/roles/{}
GET                   /projects/{}/branches/{}/roles/{}/reveal_password
POST                  /projects/{}/branches/{}/roles/{}/reset_password

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
  readonly path: string
  readonly methods: readonly string[]
}

export const SERVICE_ROUTES: readonly ServiceRoute[] = ROUTES.trim()
  .split(/\n+/)
  .map((line) => {
    const words = line.split(/ +/)
    return { path: words.at(-1) ?? '', methods: words.slice(0, -1) }
  })

/** Finds the route for a path below the API root. If several match, the one with the fewest placeholders wins. */
export const serviceRoute = (path: string): ServiceRoute | undefined => {
  const segments = path.split('/')
  const fitting = SERVICE_ROUTES.filter((route) => {
    const wanted = route.path.split('/')
    if (wanted.length !== segments.length) return false
    return wanted.every((want, index) => (want === '{}' ? segments[index] !== '' : want === segments[index]))
  })
  return fitting.sort((a, b) => placeholders(a) - placeholders(b))[0]
}

const placeholders = ({ path }: ServiceRoute): number => path.split('{}').length
