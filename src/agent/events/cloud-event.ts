/** Encodes an event as CloudEvents 1.0 (structured mode, JSON). */
import { plainJson } from '../../base/index.ts'
import type { AgentEvent } from './kept.ts'

export const CONTENT_TYPE = 'application/cloudevents+json; charset=utf-8'

/** @param source identifies the agent by its repository or folder. */
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
