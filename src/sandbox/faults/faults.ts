/** The faults that are waiting to be injected. */
import { randomUUID } from 'node:crypto'
import { globMatches } from '../../model/index.ts'
import type { OperationRecord } from '../world/records.ts'
import { type Fault, type FaultOrder, faultShape, type OperationEffect, type RequestEffect } from './fault.ts'

export interface PendingFault {
  readonly id: string
  readonly fault: Fault
  /** How often the fault was injected. */
  readonly struck: number
}

export class Faults {
  readonly random: () => number
  #waiting: readonly (PendingFault & { readonly passed: number })[] = []

  /** @param random returns a number in [0, 1), for `chance` and jitter. */
  constructor(random: () => number = Math.random) {
    this.random = random
  }

  /** @throws {z.ZodError} if the fault is invalid. */
  add(order: FaultOrder): PendingFault {
    const added = { id: randomUUID(), fault: faultShape.parse(order), struck: 0, passed: 0 }
    this.#waiting = [...this.#waiting, added]
    return added
  }

  /** Returns whether there was such a fault. */
  remove(id: string): boolean {
    const before = this.#waiting.length
    this.#waiting = this.#waiting.filter((fault) => fault.id !== id)
    return this.#waiting.length < before
  }

  clear(): void {
    this.#waiting = []
  }

  list(): readonly PendingFault[] {
    return this.#waiting.map(({ id, fault, struck }) => ({ id, fault, struck }))
  }

  ofRequest(method: string, path: string): RequestEffect | undefined {
    const struck = this.#take(
      ({ fault }) =>
        fault.on === 'request' &&
        (fault.method === undefined || fault.method.toUpperCase() === method) &&
        (fault.path === undefined || globMatches(fault.path, path)),
    )
    return struck?.on === 'request' ? struck.effect : undefined
  }

  ofOperation({ action, computeId, branchId }: OperationRecord): OperationEffect | undefined {
    const struck = this.#take(
      ({ fault }) =>
        fault.on === 'operation' &&
        (fault.action === undefined || fault.action === action) &&
        (fault.endpoint_id === undefined || fault.endpoint_id === computeId) &&
        (fault.branch_id === undefined || fault.branch_id === branchId),
    )
    return struck?.on === 'operation' ? struck.effect : undefined
  }

  /** Returns the first matching fault that is due. Matching faults before it that are not due yet count this match. */
  #take(matches: (waiting: PendingFault) => boolean): Fault | undefined {
    if (this.#waiting.length === 0) return undefined
    let striking: Fault | undefined
    this.#waiting = this.#waiting.flatMap((waiting) => {
      if (striking !== undefined || !matches(waiting)) return [waiting]
      if (waiting.passed < waiting.fault.after) return [{ ...waiting, passed: waiting.passed + 1 }]
      if (waiting.fault.chance < 1 && this.random() >= waiting.fault.chance) return [waiting]
      striking = waiting.fault
      const struck = waiting.struck + 1
      return waiting.fault.times > 0 && struck >= waiting.fault.times ? [] : [{ ...waiting, struck }]
    })
    return striking
  }
}
