/** A process that searches the worlds that its parent names, one at a time. */
import './light-fetch.ts'
import { Direct } from './direct.ts'
import { type Found, search } from './search.ts'
import { shapes } from './shapes.ts'

export interface Task {
  /** In {@link shapes}. */
  readonly index: number
  readonly most: number
}

export type Searched = Task & Found

const [direct, worlds] = [await Direct.open(), shapes()]

const run = async (task: Task): Promise<void> => {
  const world = worlds[task.index]
  if (world === undefined) throw new Error(`there is no world ${task.index}`)
  process.send?.({ ...task, ...(await search(direct, world, task.most)) } satisfies Searched)
}

process.on('message', (task: Task) => void run(task))
