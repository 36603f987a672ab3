/** The form that filters changes, hidden until its script runs. */
import { type Change, IMPACTS } from '../../model/index.ts'
import { type Markup, markup, NOTHING, when } from './markup.ts'

export const filters = (changes: readonly Change[]): Markup => {
  if (changes.length < 2) return NOTHING
  const projects = [...new Set(changes.map(({ project }) => project))]
  const impacts = IMPACTS.filter((one) => changes.some(({ impact }) => impact === one))
  const kinds = [...new Set(changes.map(({ kind }) => kind))]
  return markup`<search><form id="filters" hidden aria-label="Filter the changes">
${when(projects.length > 1, () => select('project', projects))}<p><label for="f-branch">branch</label><input id="f-branch" name="branch" type="search" autocomplete="off" spellcheck="false" placeholder="any"></p>
${select('impact', impacts)}${select('kind', kinds)}<p class="buttons"><button type="reset">Clear</button><button type="button" id="unfold">Open all</button></p>
<p role="status" aria-live="polite" id="shown"></p></form></search>`
}

const select = (name: string, values: readonly string[]): Markup =>
  markup`<p><label for="f-${name}">${name}</label><select id="f-${name}" name="${name}"><option value="">any</option>${values.map(
    (value) => markup`<option>${value}</option>`,
  )}</select></p>
`
