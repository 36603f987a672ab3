/** Questions to the person at the terminal. */
import { createInterface } from 'node:readline/promises'
import { type ConsentPolicy, judgeConsent } from '../apply/index.ts'
import { CONSENTS, type Consent, type Plan } from '../model/index.ts'
import { print } from './terminal.ts'

const QUESTIONS: Readonly<Record<Consent, string>> = {
  restart: 'restart computes: existing connections drop',
  disconnect: 'end connections',
  move: 'move computes: same host, other data',
  replace: 'replace computes: connection details change',
  delete: 'delete computes: their hosts are lost',
}

/** A typed `yes`; anything else, the end of input and Ctrl-C are a no. */
export const askYes = async (question: string): Promise<boolean> => (await asking((ask) => ask(question))) ?? false

/**
 * A typed `yes`, then one for each class of consent that the plan needs and `policy` lacks; a class that is refused is
 * left out, and its steps do not run.
 *
 * @returns what may run, or `undefined` where the answer was no, or there was none (end of input, Ctrl-C).
 */
export const askConsent = async (plan: Plan, policy: ConsentPolicy): Promise<ConsentPolicy | undefined> =>
  asking(async (ask) => {
    if (!(await ask('\nApply this plan? Only `yes` is taken for a yes: '))) return undefined
    const allow = new Set(policy.allow)
    const judgements = judgeConsent(plan, policy)
    for (const consent of CONSENTS) {
      const steps = judgements.filter(({ missing }) => missing?.includes(consent) === true).length
      if (steps === 0) continue
      if (await ask(`${steps} of its steps ${QUESTIONS[consent]}. Allow it? (yes/no) `)) allow.add(consent)
    }
    return { allow }
  })

/** A line of text, trimmed; `undefined` where nobody answered. */
export const askLine = (question: string): Promise<string | undefined> =>
  conversing(async (answerTo) => (await answerTo(question)).trim())

/** `undefined` where nobody answered any more. */
const asking = <T>(conversation: (ask: (question: string) => Promise<boolean>) => Promise<T>): Promise<T | undefined> =>
  conversing((answerTo) => conversation(async (question) => (await answerTo(question)).trim().toLowerCase() === 'yes'))

const conversing = async <T>(
  conversation: (answerTo: (question: string) => Promise<string>) => Promise<T>,
): Promise<T | undefined> => {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const gone = new AbortController()
  lines.once('close', () => gone.abort())
  lines.once('SIGINT', () => lines.close())
  try {
    return await conversation((question) => lines.question(question, { signal: gone.signal }))
  } catch (error) {
    if (!gone.signal.aborted) throw error
    print('', process.stderr)
    return undefined
  } finally {
    lines.close()
  }
}
