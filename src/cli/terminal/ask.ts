/** Asks the user for answers at the terminal. */
import { createInterface } from 'node:readline/promises'
import type { Consents } from '../../apply/index.ts'
import { EspalierError, plainText } from '../../base/index.ts'
import { CONSENTS, type Plan } from '../../model/index.ts'
import { consentWords, planNames } from '../../report/index.ts'
import type { Io } from '../setup/io.ts'
import { canAsk, print } from './terminal.ts'

/** How many steps are listed. A longer list would push the plan off the screen, which shows all steps. */
const MOST_NAMED = 12

/** @throws {EspalierError} `E_CONSENT` if there is no terminal, or if CI is set. */
export const requireTerminal = (io: Io, hint: string): void => {
  if (canAsk(io)) return
  throw new EspalierError(
    'E_CONSENT',
    'Nothing was changed, because confirmation needs a terminal and does not work in CI.',
    {
      hint,
    },
  )
}

/** True only if `yes` is typed. `no`, `n`, end of input and Ctrl-C mean no. After any other answer, it asks again. */
export const askYes = async (question: string, io: Io): Promise<boolean> =>
  (await asking(io, (ask) => ask(question))) ?? false

/**
 * Asks whether to apply the plan. Then asks for each consent that the plan needs and `given` does not include, and lists
 * the steps that need it. If a consent is declined, these steps do not run.
 *
 * @returns the consents that are given, or `undefined` if the plan was declined with no, end of input or Ctrl-C.
 */
export const askConsent = async (plan: Plan, given: Consents, io: Io): Promise<Consents | undefined> =>
  asking(io, async (ask) => {
    if (!(await ask("\nApply this plan? Only 'yes' will be accepted: "))) return undefined
    const allow = new Set(given.allow)
    const names = planNames(plan)
    for (const consent of CONSENTS.filter((one) => !given.allow.has(one))) {
      const steps = plan.steps.filter(({ refused, consents }) => refused === undefined && consents.includes(consent))
      if (steps.length === 0) continue
      const more = steps.length - MOST_NAMED
      const lines = [
        `\n${consentWords(consent, steps.length)}`,
        ...steps.slice(0, MOST_NAMED).map((step) => `  ${plainText(names.step(step))}`),
        ...(more > 0 ? [`  and ${more} more`] : []),
        `Allow ${steps.length === 1 ? 'it' : 'them'}? (yes/no) `,
      ]
      if (await ask(lines.join('\n'))) allow.add(consent)
    }
    return { allow }
  })

/** The answer without surrounding white space, or `undefined` at end of input or Ctrl-C. */
export const askLine = (question: string, io: Io): Promise<string | undefined> =>
  conversing(io, async (answerTo) => (await answerTo(question)).trim())

const ANSWERS: ReadonlyMap<string, boolean> = new Map([
  ['yes', true],
  ['no', false],
  ['n', false],
])

const TYPE = 'Type yes or no: '

/** `undefined` at end of input or Ctrl-C. */
const asking = <T>(
  io: Io,
  conversation: (ask: (question: string) => Promise<boolean>) => Promise<T>,
): Promise<T | undefined> =>
  conversing(io, (answerTo) =>
    conversation(async (question) => {
      let next = question
      for (;;) {
        const typed = (await answerTo(next)).trim()
        const answer = ANSWERS.get(typed.toLowerCase())
        if (answer !== undefined) return answer
        // `y` is not accepted, because a single letter is too easy to type by mistake.
        next = typed === '' ? TYPE : `'${plainText(typed)}' is neither yes nor no. ${TYPE}`
      }
    }),
  )

const conversing = async <T>(
  io: Io,
  conversation: (answerTo: (question: string) => Promise<string>) => Promise<T>,
): Promise<T | undefined> => {
  const lines = createInterface({ input: io.stdin, output: io.stderr })
  const closed = new AbortController()
  lines.once('close', () => closed.abort())
  lines.once('SIGINT', () => lines.close())
  try {
    return await conversation((question) => lines.question(question, { signal: closed.signal }))
  } catch (error) {
    if (!closed.signal.aborted) throw error
    print('', io.stderr)
    return undefined
  } finally {
    lines.close()
  }
}
