/** The form in which an event is sent: CloudEvents 1.0, structured, as JSON. */
import { plainJson } from '../../base/index.ts'
import type { AgentEvent } from './kept.ts'

export const CONTENT_TYPE = 'application/cloudevents+json; charset=utf-8'

/** @param source which agent: the repository or the folder that it reads. */
export const cloudEvent = (subject: string, { id, type, at, data }: AgentEvent, source: string): string =>
  plainJson({
    specversion: '1.0',
    id,
    source: `urn:espalier:agent:${encodeURIComponent(source)}`,
    type: `dev.espalier.${type}`,
    subject,
    time: new Date(at).toISOString(),
    datacontenttype: 'application/json',
    data,
  })
