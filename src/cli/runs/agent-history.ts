import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readJournal } from '../../agent/index.ts'
import { EXIT, type ExitCode, plainText, stepTitle } from '../../model/index.ts'
import type { HistoryFlags } from '../commands/agent.ts'
import type { Io } from '../io.ts'
import { print } from '../terminal.ts'

const NAME = /^(?<h>\d\d)(?<m>\d\d)(?<s>\d\d)-(?<project>.+)-(?<version>[^-]*)-[^-]+\.jsonl$/

/** Prints the newest entry last, as a log does. */
export const runAgentHistory = async ({ projects, data }: HistoryFlags, io: Io): Promise<ExitCode> => {
  const journals = join(io.locate(data), 'journals')
  const of = projects.length === 0 ? '' : plainText(` in ${projects.join(', ')}`)
  let shown = 0
  for (const day of (await readdir(journals).catch(() => [])).sort()) {
    for (const name of (await readdir(join(journals, day))).sort()) {
      const { h, m, s, project = '', version = '' } = NAME.exec(name)?.groups ?? {}
      if (h === undefined) continue
      const journal = await readJournal(join(journals, day, name))
      if (journal === undefined) continue
      const names = [project, journal.plan.projectNames?.[project]]
      if (projects.length > 0 && !projects.some((one) => names.includes(one))) continue
      shown += 1
      const { plan, started, done, hasEnded } = journal
      const changes = new Map(plan.changes.map((change) => [change.id, change]))
      print(plainText(`${day} ${h}:${m}:${s}  ${project}  ${version}${hasEnded ? '' : '  interrupted'}`), io.stdout)
      for (const step of plan.steps.filter(({ id }) => started.has(id))) {
        const fate = done.has(step.id) ? '' : ': not done'
        const impact = step.impact === 'none' ? '' : ` (${step.impact})`
        print(`  ${stepTitle(step, changes)}${impact}${fate}`, io.stdout)
      }
    }
  }
  if (shown === 0) print(`The agent has not changed anything${of} yet.`, io.stdout)
  return EXIT.ok
}
