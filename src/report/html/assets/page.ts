/** Filters the changes on a page. If scripts are disabled, the page shows all changes and no filter. */

const form = document.querySelector<HTMLFormElement>('#filters')
if (form !== null) enableFilters(form)

function enableFilters(form: HTMLFormElement): void {
  const cards = elements('.change')
  const branches = elements('.branch')
  const projects = elements<HTMLDetailsElement>('details.project')
  const shown = document.querySelector('#shown')
  const bars = new Map<string | undefined, HTMLElement[]>()
  for (const bar of elements('.chart [data-c]')) {
    const drawn = bars.get(bar.dataset.c)
    if (drawn === undefined) bars.set(bar.dataset.c, [bar])
    else drawn.push(bar)
  }
  /** The projects that were expanded before a filter expanded all of them. */
  let openBefore: ReadonlySet<HTMLDetailsElement> | undefined

  const filter = (): void => {
    const values = new FormData(form)
    const wanted = (name: string): string => String(values.get(name) ?? '').trim()
    const isFiltered = ['branch', 'project', 'impact', 'kind'].some((name) => wanted(name) !== '')
    const accepts = (name: string, value: string | undefined): boolean => wanted(name) === '' || wanted(name) === value
    const text = wanted('branch').toLowerCase()
    let count = 0
    for (const card of cards) {
      const fits =
        dataOf(card, '.branch', 'branch').toLowerCase().includes(text) &&
        accepts('project', dataOf(card, '.project', 'project')) &&
        accepts('impact', card.dataset.impact) &&
        accepts('kind', card.dataset.kind)
      card.hidden = !fits
      if (fits) count += 1
      for (const bar of bars.get(card.dataset.c) ?? []) bar.classList.toggle('off', !fits)
    }
    for (const element of [...branches, ...projects]) element.hidden = !element.querySelector('.change:not([hidden])')
    if (isFiltered) openBefore ??= new Set(projects.filter(({ open }) => open))
    for (const project of projects) project.open = isFiltered || (openBefore?.has(project) ?? project.open)
    if (!isFiltered) openBefore = undefined
    if (shown !== null) shown.textContent = isFiltered ? `${count} of ${cards.length} changes shown` : ''
  }

  form.addEventListener('input', filter)
  form.addEventListener('reset', () => setTimeout(filter))
  form.addEventListener('submit', (event) => event.preventDefault())
  const unfold = document.querySelector('#unfold')
  unfold?.addEventListener('click', () => {
    const all = elements<HTMLDetailsElement>('main details')
    const open = all.some((details) => !details.open)
    for (const details of all) details.open = open
    unfold.textContent = open ? 'Close all' : 'Open all'
  })
  form.hidden = false
}

function elements<T extends HTMLElement>(selector: string): readonly T[] {
  return [...document.querySelectorAll<T>(selector)]
}

/** A `data-` attribute of the closest element that `selector` matches. */
function dataOf(inside: HTMLElement, selector: string, name: string): string {
  return inside.closest<HTMLElement>(selector)?.dataset[name] ?? ''
}
