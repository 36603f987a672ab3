/** What the page does with script: filters. It is read without it as well. */
export const SCRIPT = `'use strict'
{
  const form = document.getElementById('filters')
  const shown = document.getElementById('shown')
  const unfold = document.getElementById('unfold')
  if (form) {
    const cards = [...document.querySelectorAll('.change')]
    const branches = [...document.querySelectorAll('.branch')]
    const projects = [...document.querySelectorAll('.project')]
    const drawn = new Map()
    for (const one of document.querySelectorAll('.chart [data-c]')) {
      const list = drawn.get(one.dataset.c)
      if (list) list.push(one)
      else drawn.set(one.dataset.c, [one])
    }
    const wasOpen = new Map(projects.map((one) => [one, one.open]))
    let isFiltered = false
    const filter = () => {
      const wanted = Object.fromEntries(new FormData(form))
      const text = (wanted.branch || '').trim().toLowerCase()
      const before = isFiltered
      isFiltered = Object.values(wanted).some((value) => value.trim() !== '')
      let count = 0
      for (const card of cards) {
        const branch = card.closest('.branch').dataset.branch.toLowerCase()
        const fits =
          branch.includes(text) &&
          (!wanted.project || card.closest('.project').dataset.project === wanted.project) &&
          (!wanted.impact || card.dataset.impact === wanted.impact) &&
          (!wanted.kind || card.dataset.kind === wanted.kind)
        card.hidden = !fits
        if (fits) count += 1
        for (const one of drawn.get(card.dataset.c) || []) one.classList.toggle('off', !fits)
      }
      for (const one of branches) one.hidden = !one.querySelector('.change:not([hidden])')
      for (const one of projects) {
        one.hidden = !one.querySelector('.change:not([hidden])')
        if (isFiltered && !before) wasOpen.set(one, one.open)
        if (isFiltered) one.open = true
        else if (before) one.open = wasOpen.get(one)
      }
      shown.textContent = isFiltered ? count + ' of ' + cards.length + ' changes shown' : ''
    }
    form.addEventListener('input', filter)
    form.addEventListener('reset', () => setTimeout(filter))
    form.addEventListener('submit', (event) => event.preventDefault())
    unfold.addEventListener('click', () => {
      const all = [...document.querySelectorAll('main details')]
      const open = all.some((one) => !one.open)
      for (const one of all) one.open = open
      unfold.textContent = open ? 'Close all' : 'Open all'
    })
    form.hidden = false
  }
}
`
