/** Stores files for actions/upload-artifact and download-artifact, whose current versions act's own server does not support. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { serve } from '../serve.ts'

/** @returns the environment variables that make the actions use this server. */
export const openArtifactServer = async (): Promise<Readonly<Record<string, string>>> => {
  const files = new Map<string, Buffer>()
  const blocks = new Map<string, Buffer>()
  let root = ''

  const rpc = (call: string, { name = '', name_filter, id_filter }: Record<string, string>): object => {
    switch (call) {
      case 'CreateArtifact':
        return { ok: true, signed_upload_url: `${root}/blob/${encodeURIComponent(name)}?sig=x` }
      case 'FinalizeArtifact':
        return { ok: true, artifact_id: String([...files.keys()].indexOf(name) + 1) }
      case 'GetSignedArtifactURL':
        return { signed_url: `${root}/blob/${encodeURIComponent(name)}?sig=x` }
      default:
        return {
          artifacts: [...files]
            .map(([key, { length }], at) => ({ ...IDS, database_id: String(at + 1), name: key, size: String(length) }))
            .filter(
              (one) => one.name === (name_filter ?? one.name) && one.database_id === (id_filter ?? one.database_id),
            ),
        }
    }
  }

  /** Azure's block blobs: numbered parts, followed by a list of parts. */
  const put = (name: string, { searchParams }: URL, body: Buffer): void => {
    const comp = searchParams.get('comp')
    if (comp === 'block') blocks.set(`${name} ${searchParams.get('blockid')}`, body)
    else if (comp === 'blocklist') {
      const ids = [...body.toString().matchAll(/<Latest>(.*?)<\/Latest>/g)].map(([, id = '']) => id)
      files.set(name, Buffer.concat(ids.flatMap((id) => blocks.get(`${name} ${id}`) ?? [])))
    } else files.set(name, body)
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', root)
    const body = await buffer(request)
    const [, call] = /ArtifactService\/(\w+)$/.exec(url.pathname) ?? []
    if (call !== undefined) {
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(rpc(call, JSON.parse(body.toString()))))
      return
    }
    const name = decodeURIComponent(url.pathname.replace('/blob/', ''))
    if (request.method !== 'PUT') {
      response.writeHead(200, { 'content-type': 'application/zip' }).end(files.get(name))
      return
    }
    put(name, url, body)
    response.writeHead(201).end()
  }

  root = (await serve(answer)).origin
  const claims = Buffer.from(JSON.stringify({ scp: 'Actions.Results:run:job' })).toString('base64url')
  return { ACTIONS_RESULTS_URL: `${root}/`, ACTIONS_RUNTIME_TOKEN: `e30.${claims}.x` }
}

const IDS = {
  workflow_run_backend_id: 'run',
  workflow_job_run_backend_id: 'job',
  created_at: '2026-01-01T00:00:00Z',
}
