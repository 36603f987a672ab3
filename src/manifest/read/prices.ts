/** Checks that each project has only one price. */
import { groupBy } from '../../base/index.ts'
import type { DesiredDocument, Diagnostic, Source } from '../../model/index.ts'

export const checkPrices = (documents: readonly DesiredDocument[]): readonly Diagnostic[] =>
  [...groupBy(documents, ({ project }) => project)].flatMap(([project, own]) => {
    const priced = own.flatMap(({ price, sources }) =>
      price === undefined || sources?.price === undefined ? [] : [{ price, source: sources.price }],
    )
    const [first] = priced
    if (first === undefined) return []
    return priced
      .filter(({ price }) => price.cuHour !== first.price.cuHour || price.currency !== first.price.currency)
      .map(({ source }) => twice(project, first.source, source))
  })

const twice = (project: string, first: Source, source: Source): Diagnostic => ({
  severity: 'error',
  code: 'E_PRICE_TWICE',
  message: `Project \`${project}\` has another price at ${first.file}:${first.line}:${first.column}.`,
  hint: 'Keep one of the two.',
  source,
})
