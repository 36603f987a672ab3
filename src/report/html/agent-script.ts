/** What the agent's page does with script: it follows the agent, and copies commands. It is read without it as well. */
export const AGENT_SCRIPT = `'use strict'
{
  const live = document.getElementById('live')
  const refresh = async () => {
    const answer = await fetch('/', { headers: { accept: 'text/html' } })
    if (!answer.ok) throw new Error(String(answer.status))
    const next = new DOMParser().parseFromString(await answer.text(), 'text/html')
    const open = new Set([...document.querySelectorAll('main details[open]')].map(({ id }) => id))
    const focused = document.activeElement && document.activeElement.id
    for (const id of ['head', 'main']) {
      const [before, after] = [document.getElementById(id), next.getElementById(id)]
      if (before && after) before.replaceChildren(...after.childNodes)
    }
    for (const one of document.querySelectorAll('main details')) if (open.has(one.id)) one.open = true
    if (focused) {
      const again = document.getElementById(focused)
      if (again && again !== document.activeElement) again.focus({ preventScroll: true })
    }
    document.title = next.title
    addButtons()
  }
  let isBusy = false
  let isStale = false
  const follow = async () => {
    isStale = true
    if (isBusy || document.hidden) return
    isBusy = true
    while (isStale) {
      isStale = false
      try {
        await refresh()
        live.textContent = 'Live'
      } catch {
        live.textContent = 'Not connected: what you see may be out of date.'
      }
      await new Promise((resolve) => setTimeout(resolve, 1000))
    }
    isBusy = false
  }
  const addButtons = () => {
    if (!navigator.clipboard) return
    for (const one of document.querySelectorAll('.command')) {
      const button = document.createElement('button')
      button.type = 'button'
      button.id = one.id + '-copy'
      button.textContent = 'Copy'
      button.setAttribute('aria-describedby', one.id)
      button.addEventListener('click', async () => {
        await navigator.clipboard.writeText(one.textContent)
        button.textContent = 'Copied'
      })
      one.after(button)
    }
  }
  addButtons()
  document.addEventListener('visibilitychange', () => {
    if (isStale) follow()
  })
  const events = new EventSource('/api/v1/events')
  let wasOpen = false
  events.addEventListener('open', () => {
    live.textContent = 'Live'
    // What happened while the connection was down was not sent.
    if (wasOpen) follow()
    wasOpen = true
  })
  events.addEventListener('error', () => {
    live.textContent = 'Not connected: what you see may be out of date.'
  })
  for (const name of ['project', 'removed', 'agent']) events.addEventListener(name, follow)
}
`
