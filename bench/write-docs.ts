/** Updates the generated part of bench/README.md, which is between two markers. */
import { readFile, writeFile } from 'node:fs/promises'
import { type Section, sectionText } from './table.ts'

const PAGE = 'bench/README.md'
const [BEGIN, END] = ['<!-- Written by npm run bench. -->', '<!-- Until here. -->']

/** Times depend on the machine, so the page has only their ratios. bench/results.json has the times too. */
const withoutTimes = (section: Section): Section => ({
  ...section,
  rows: section.rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([head]) => head === 'latency, ms' || !/[,:] ms$|^µs/.test(head))),
  ),
})

/** @param about a line of text about the machine and the runs. */
export const writeDocs = async (about: string, sections: readonly Section[]): Promise<void> => {
  const text = await readFile(PAGE, 'utf8')
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (from < 0 || to < from) throw new Error(`${PAGE} has no markers around the figures`)
  const measured = [BEGIN, '', about, ...sections.map(withoutTimes).map(sectionText), '', ''].join('\n')
  await writeFile(PAGE, `${text.slice(0, from)}${measured}${text.slice(to)}`)
}
