/** Keeps the agent's page up to date and adds buttons that copy commands. The page also works without scripts. */
const live = document.getElementById('live')
const say = (words: string): void => {
  if (live !== null && live.textContent !== words) live.textContent = words
}
const LOST = 'Not connected: what you see may be out of date'

const addCopyButtons = (): void => {
  if (navigator.clipboard === undefined) return
  for (const command of document.querySelectorAll('.command')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.id = `${command.id}-copy`
    button.textContent = 'Copy'
    button.setAttribute('aria-describedby', command.id)
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(command.textContent ?? '')
      button.textContent = 'Copied'
    })
    command.after(button)
  }
}

/** Replaces the contents of the page with those rendered by the server. Expanded details and the focus are kept. */
const refresh = async (): Promise<void> => {
  const answer = await fetch(location.pathname + location.search, { headers: { accept: 'text/html' } })
  if (!answer.ok) throw new Error(`status ${answer.status}`)
  const next = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const open = [...document.querySelectorAll('main details[open]')].map(({ id }) => id)
  const focused = document.activeElement?.id
  for (const id of ['head', 'main']) {
    document.getElementById(id)?.replaceChildren(...(next.getElementById(id)?.childNodes ?? []))
  }
  for (const id of open) document.getElementById(id)?.setAttribute('open', '')
  document.title = next.title
  addCopyButtons()
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true })
}

let isRefreshing = false
let isOutdated = false

/** Updates the page, but at most once a second, and not while the page is hidden. */
const follow = async (): Promise<void> => {
  isOutdated = true
  if (isRefreshing) return
  isRefreshing = true
  while (isOutdated && !document.hidden) {
    isOutdated = false
    await refresh().then(
      () => say('Live'),
      () => say(LOST),
    )
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
  isRefreshing = false
}

addCopyButtons()
document.addEventListener('visibilitychange', () => {
  if (isOutdated) follow()
})

const events = new EventSource('/api/v1/events')
let wasOpen = false
events.addEventListener('open', () => {
  say('Live')
  // The page missed the events that were sent while it was disconnected.
  if (wasOpen) follow()
  wasOpen = true
})
events.addEventListener('error', () => say(LOST))
for (const name of ['project', 'removed', 'agent']) events.addEventListener(name, follow)
