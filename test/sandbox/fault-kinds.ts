import { z } from 'zod'
import { faultShape } from '../../src/sandbox/faults.ts'

type Node = { readonly kind?: { readonly const?: string; readonly enum?: readonly string[] } }

/** The kinds of all fault effects. */
export const faultKinds = (): readonly string[] => {
  const kinds = new Set<string>()
  JSON.stringify(z.toJSONSchema(faultShape, { io: 'input' }), (_key, value: Node | null) => {
    for (const kind of [value?.kind?.const, ...(value?.kind?.enum ?? [])]) if (kind !== undefined) kinds.add(kind)
    return value
  })
  return [...kinds]
}
