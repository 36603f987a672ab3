import { expect, test } from 'vitest'
import type { OperationRecord } from '../../src/sandbox/world/records.ts'
import { Tables } from '../../src/sandbox/world/tables.ts'

const operation = (number: number): OperationRecord => ({
  kind: 'operation',
  id: `operation-${number}`,
  projectId: 'p',
  branchId: 'br',
  action: 'start_compute',
  status: 'finished',
  createdAtUs: number,
  updatedAt: 0,
  durationMs: 0,
})

test('a project keeps its newest 10,000 operations, and replaying a log does not restore older ones', () => {
  const tables = new Tables()
  tables.apply({
    put: {
      kind: 'project',
      id: 'p',
      name: 'p',
      regionId: 'aws-eu-central-1',
      plan: 'paid',
      defaults: { min: 1, max: 1, suspendTimeoutSeconds: 0 },
      createdAt: 0,
    },
  })
  for (let number = 1; number <= 11_001; number += 1) tables.apply({ put: operation(number) })
  const project = tables.projects.get('p')
  expect(project?.operations).toHaveLength(10_000)
  expect(project?.operationById.size).toBe(10_000)
  expect(project?.operations[0]?.id).toBe('operation-1002')
  tables.apply({ put: operation(1) })
  expect(project?.operations.at(-1)?.id).toBe('operation-11001')
  expect(project?.operationById.has('operation-1')).toBe(false)
})
