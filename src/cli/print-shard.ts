import { shardText } from '../model/index.ts'
import type { Manifests } from '../workflow/index.ts'
import type { Io } from './io.ts'
import { print } from './terminal.ts'

/** Notes on stderr that this run covers only part of the fleet. */
export const printShard = ({ loaded, shard }: Manifests, io: Io): void => {
  if (shard === undefined) return
  const projects = new Set(loaded.desired.documents.map(({ project }) => project)).size
  print(
    `Note  Shard ${shardText(shard)}: ${projects} ${projects === 1 ? 'project' : 'projects'} of the fleet.`,
    io.stderr,
  )
}
