// Posts the agent's events to a Slack channel: node slack.mjs
//   SLACK_WEBHOOK_URL      a Slack incoming webhook
//   ESPALIER_EVENT_SECRET  the secret in the agent's --notify-secret-file
// Start the agent with: espalier agent run … --notify http://127.0.0.1:8080 --notify-secret-file secret
import { receive } from './receive.mjs'

const SYMBOLS = {
  Blocked: ':no_entry:',
  Invalid: ':no_entry:',
  Failing: ':warning:',
  OutOfSync: ':left_right_arrow:',
  Synced: ':white_check_mark:',
}

/** Escapes names, so that they cannot mention people or create links. */
const escaped = (text) => String(text).replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')

export const slackMessage = ({ data }) => {
  const { state, reason, project, message, applied, missedWindow, command } = data
  const status = [state, reason].filter(Boolean).join(': ')
  const lines = [
    `${SYMBOLS[state] ?? ':information_source:'} *${escaped(project.name ?? project.id)}*: ${status}`,
    escaped(message),
    ...(missedWindow ? [`The window closed at ${missedWindow.closesAt}: ${missedWindow.cause}`] : []),
    ...(applied?.done ?? []).map((step) => `• ${escaped(step)}`),
    ...(command ? [`\`\`\`${escaped(command)}\`\`\``] : []),
  ]
  return { text: lines.join('\n') }
}

export const postToSlack = (url) => async (event) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(slackMessage(event)),
  })
  if (!response.ok) throw new Error(`Slack returned ${response.status}`)
}

if (process.argv[1] === import.meta.filename) {
  const { SLACK_WEBHOOK_URL, ESPALIER_EVENT_SECRET, PORT = '8080' } = process.env
  receive({ secret: ESPALIER_EVENT_SECRET, port: Number(PORT), handle: postToSlack(SLACK_WEBHOOK_URL) })
}
