/** In Markdown output, no name, path or value becomes a link, a mention, Markdown or HTML. */
import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import MarkdownIt from 'markdown-it'
import { describe, expect, test } from 'vitest'
import { encodePath, plainText } from '../../src/base/index.ts'
import type { Diagnostic, Origin, Plan, StepOutcome } from '../../src/model/index.ts'
import { originOf } from '../../src/planner/index.ts'
import { failureComment, markdownPlan, outcomeComment, planComment, problemComment } from '../../src/report/index.ts'
import { isLong, part, runs } from '../long-runs.ts'
import { OUTCOME, planWith, WARNING } from './fixtures.ts'
import { HOSTILE_NAMES, hostileName, UNSEEN } from './names.ts'

const FRAME = {
  marker: '<!-- espalier:comment:. -->',
  commit: '0123456789abcdef0123456789abcdef01234567',
  linkTo: (file: string, line: number) => `https://github.com/acme/shop/blob/0123456/${encodePath(file)}#L${line}`,
  whole: 'the job summary',
}

/** A plan with `name` in place of every name, file, project and id. */
const plan = (name: string): Plan => {
  const named = planWith(name)
  return {
    ...named,
    changes: named.changes.map((change) => ({
      ...change,
      project: name,
      compute: { ...change.compute, id: name, host: name },
      ...(change.source === undefined ? {} : { source: { ...change.source, file: name } }),
    })),
    leftOut: [{ project: name, diagnostics: [problem(name)] }],
  }
}

const problem = (name: string): Diagnostic => {
  const source = { file: name, line: 1, column: 1, length: 1 }
  return { ...WARNING, message: name, hint: name, source }
}

const origin = (name: string, base?: Plan): Origin => {
  const source = { file: name, line: 1, column: 1, length: 1 }
  const released = plan(name).unmanaged.map((one) => ({ ...one, kind: 'compute' as const, project: name, source }))
  return { ...originOf(base, plan(name), released), gaps: [name] }
}

const WRITERS: Readonly<Record<string, (name: string) => string>> = {
  'plan --format markdown': (name) => markdownPlan(plan(name), { takenAt: name }),
  'plan --base --format markdown': (name) =>
    markdownPlan(plan(name), { takenAt: name, since: { ref: name, origin: origin(name, plan(name)) } }),
  'the comment of a plan': (name) =>
    planComment({
      ...FRAME,
      plan: plan(name),
      name,
      origin: origin(name, plan(name)),
      introducedBy: 'this pull request',
      notes: [],
      takenAt: name,
    }),
  'the comment of what a pull request introduces': (name) =>
    planComment({
      ...FRAME,
      plan: plan(name),
      origin: origin(name),
      introducedBy: 'this pull request',
      notes: [],
    }),
  'the comment of problems': (name) => problemComment({ ...FRAME, name, diagnostics: [problem(name)], notes: [] }),
  'the comment of a failure': (name) => {
    // Each line of the message becomes a line of the comment.
    const message = `About ${name.replace(/\n/g, ' ')}.`
    return failureComment({
      ...FRAME,
      name,
      what: 'plan',
      reason: 'network',
      code: 'E_X',
      message,
      hint: message,
    })
  },
  'the comment of an outcome': (name) =>
    outcomeComment({
      ...FRAME,
      plan: plan(name),
      outcome: {
        ...OUTCOME,
        steps: [
          ...OUTCOME.steps.map((step) => ({ ...step, message: name })),
          { step: name, status: 'failed', message: name, operations: [], durationMs: 1 },
        ],
        notes: [name],
      },
    }),
}

const markdownIt = new MarkdownIt({ html: true, linkify: true })

const EXTENSIONS = ['table', 'strikethrough', 'autolink', 'tasklist']
/** GitHub's renderer, without its later processing of text outside of code. */
const cmark = (text: string): string =>
  spawnSync('cmark-gfm', ['--unsafe', ...EXTENSIONS.flatMap((one) => ['-e', one])], { input: text, encoding: 'utf8' })
    .stdout
const hasCmark = spawnSync('cmark-gfm', ['--version']).error === undefined

/** Tags, addresses and words outside of code, which no name may change. */
const outsideOfCode = (html: string): string =>
  html
    .replace(/<code[^>]*>[\s\S]*?<\/code>/g, '<code/>')
    .replace(/href="https:\/\/github\.com\/acme\/shop\/blob\/0123456\/[^"()*!'~]*#L\d+"/g, 'href')

const cases = Object.entries(WRITERS)

describe.each(cases)('%s', (_what, write) => {
  // A name that needs no escaping.
  const usual = write('plain')

  // promise: markdown-names
  test('renders the same outside code spans, whatever the names', () => {
    const expected = outsideOfCode(markdownIt.render(usual))
    fc.assert(
      fc.property(hostileName, (name) => {
        const text = write(name)
        // Our own symbols contain a variation selector.
        expect(text.replace(/[⚠⏭]\ufe0f/g, '')).not.toMatch(UNSEEN)
        expect(outsideOfCode(markdownIt.render(text))).toBe(expected)
      }),
      { numRuns: runs(300), examples: HOSTILE_NAMES.map((name) => [name]) },
    )
  })

  // promise: markdown-names
  test.skipIf(!hasCmark)(
    'renders the same with cmark-gfm (skipped if not installed: apt-get install cmark-gfm)',
    () => {
      const expected = outsideOfCode(cmark(usual))
      const more = isLong ? fc.sample(hostileName, 40) : []
      for (const name of [...part(HOSTILE_NAMES, 12), ...more]) {
        expect(outsideOfCode(cmark(write(name))), JSON.stringify(name)).toBe(expected)
      }
    },
  )
})

// promise: lookalike-names
test.each(HOSTILE_NAMES.filter((name) => name !== '').map((name) => [plainText(name), name]))(
  'the name %s is shown literally, with invisible characters escaped',
  (_shown, name) => {
    const html = markdownIt.render(WRITERS['the comment of problems']?.(name) ?? '')
    const code = [...html.matchAll(/<code>(.*?)<\/code>/g)].map(([, one = '']) =>
      one.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
    )
    expect(code).toContain(plainText(name).replaceAll('|', '\\u{7c}'))
  },
)

test('a link to a file remains one link, whatever its path contains', () => {
  fc.assert(
    fc.property(hostileName, (name) => {
      const path = encodePath(`espalier/${name}`)
      expect(path).toMatch(/^[\w.%/-]*$/)
      expect(decodeURIComponent(path)).toBe(`espalier/${name.replace(/\p{Cs}/gu, '\ufffd')}`)
    }),
  )
})

test('steps that failed for the same reason share a row of the comment', () => {
  const own = plan('shop')
  const steps = [1, 2, 3].map(
    (number): StepOutcome => ({
      step: own.steps[number]?.id ?? '',
      status: 'failed',
      message:
        number === 3 ? 'It was deleted.' : `No right (PATCH /projects/p/endpoints/ep-${number}, request ${number}).`,
      operations: [],
      durationMs: 0,
    }),
  )
  const comment = outcomeComment({ ...FRAME, plan: own, outcome: { ...OUTCOME, steps, notes: [] } })
  const rows = comment.split('\n').filter((row) => row.includes('failed |'))
  expect(rows).toEqual([expect.stringMatching(/^\| 2 steps: .*No right/), expect.stringContaining('It was deleted.')])
})
