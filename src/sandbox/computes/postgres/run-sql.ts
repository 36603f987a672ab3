/** Runs the statements of one HTTP request in a new session. */
import pg from 'pg'
import type { Login, Statement, StatementResult } from '../computes.ts'

/** Returns all values as text, because the client converts them itself. */
const asText: pg.CustomTypesConfig = { getTypeParser: () => (value: string | Buffer) => String(value) }

/** @param begin the BEGIN of a transaction around all statements. Default: each statement is its own transaction. */
export const runSql = async (
  at: Login & { readonly host: string; readonly port: number },
  statements: readonly Statement[],
  begin: string | undefined,
): Promise<readonly StatementResult[]> => {
  const client = new pg.Client({ ...at, application_name: 'serverless driver' })
  client.on('error', () => undefined)
  await client.connect()
  try {
    const results: StatementResult[] = []
    if (begin !== undefined) await client.query(begin)
    for (const { query, params } of statements) results.push(await runOne(client, query, params))
    if (begin !== undefined) await client.query('COMMIT')
    return results
  } finally {
    await client.end().catch(() => undefined)
  }
}

const runOne = async (client: pg.Client, text: string, values: Statement['params']): Promise<StatementResult> => {
  const { command, rowCount, fields, rows } = await client.query<(string | null)[]>({
    text,
    values: [...values],
    rowMode: 'array',
    types: asText,
    // The extended protocol accepts only a single statement, as the service does.
    queryMode: 'extended',
  } as pg.QueryArrayConfig)
  return { command, rowCount, fields, rows }
}
