import { z } from 'zod'
import { type FileKind, parseYaml, readYaml } from '../yaml-file.ts'
import { type FaultOrder, faultShape } from './fault.ts'

const KIND: FileKind = { code: 'E_FAULTS', title: 'The fault file', hint: 'docs/sandbox.md lists the faults.' }
const shape = z.array(faultShape)

/** @throws {EspalierError} `E_FAULTS` if the file cannot be read or is invalid: one line for each mistake. */
export const readFaults = async (path: string): Promise<readonly FaultOrder[]> =>
  parseYaml(await readYaml(path, KIND), path, shape, KIND) as readonly FaultOrder[]
