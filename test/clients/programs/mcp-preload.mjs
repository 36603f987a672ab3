/** Loaded into the MCP server: leads the driver that it uses for SQL to the sandbox. */
import { neonConfig } from '@neondatabase/serverless'

neonConfig.fetchEndpoint = `${new URL(process.env.NEON_API_HOST).origin}/sql`
