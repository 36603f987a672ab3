/** The frame of every page: a self-contained HTML document, which its content security policy enforces. */
import assets from './generated/assets.json' with { type: 'json' }
import { iconSheet, type Markup, markup, NOTHING, textOf, trusted, type Value } from './markup.ts'

export interface PageFrame {
  /** The version of Espalier. */
  readonly version: string
  /** Returns the SHA-256 of a text, in base64. */
  readonly sha256: (text: string) => string
  /** The URL of the agent's overview, if an agent serves this page. */
  readonly home?: string
}

interface PageParts {
  readonly title: string
  /** The command that wrote the page. */
  readonly command: string
  readonly seen: Value
  readonly head: Markup
  readonly body: Value
  /** Set if an agent serves the page, in which case the page updates itself. `places` are the page's sections. */
  readonly live?: {
    readonly style: string
    readonly script: string
    readonly places?: readonly Place[]
    readonly footer: string
    /** A form above the content, which an update of the page leaves alone. */
    readonly form?: Markup
  }
}

type Place = readonly [id: string, name: string]

/** The links in the navigation, in the order of the sections. A link is shown only if the page has its section. */
const PLACES: readonly Place[] = [
  ['left-out', 'Left out'],
  ['warnings', 'Warnings'],
  ['advice', 'Savings'],
  ['projects', 'Projects'],
  ['cost-branches', 'Branches'],
  ['computes', 'Computes'],
  ['interrupts', 'Interruptions'],
  ['capacity', 'Capacity'],
  ['checks', 'Policies'],
  ['cost', 'Cost'],
  ['steps', 'Steps'],
  ['changes', 'Branches'],
  ['released', 'No longer managed'],
  ['weakened', 'Weakened safeguards'],
  ['unmanaged', 'Unmanaged'],
  ['legend', 'Legend'],
]

export const page = (
  { version, sha256, home }: PageFrame,
  { title, command, seen, head, body, live }: PageParts,
): string => {
  const main = markup`${body}`
  const text = textOf(main)
  const places = (live?.places ?? PLACES).filter(([id]) => text.includes(` id="${id}"`))
  const style = `${assets.style}${live?.style ?? ''}`
  const script = live?.script ?? assets.script
  const policy = [
    `default-src 'none'; style-src 'sha256-${sha256(style)}'; script-src 'sha256-${sha256(script)}'`,
    ...(live === undefined ? [] : ["connect-src 'self'"]),
    `base-uri 'none'; form-action ${live?.form === undefined ? "'none'" : "'self'"}`,
  ].join('; ')
  const brand = markup`${LOGO}espalier <span>${command}</span>`
  return textOf(markup`${trusted('<!doctype html>')}
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${trusted(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="robots" content="noindex"><meta name="referrer" content="no-referrer"><meta name="generator" content="espalier ${version}">
<title>${title}</title><style>${trusted(style)}</style></head>
<body><a class="skip" href="#main">Skip to the content</a>${iconSheet()}
<header><div class="strip"><p class="brand">${home === undefined ? brand : markup`<a class="brand" href="${home}">${brand}</a>`}</p><p class="seen">${seen}</p></div>
<div id="head">${head}${places.length > 1 ? markup`<nav aria-label="Sections"><ul>${places.map(([id, name]) => markup`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>` : NOTHING}</div></header>${live?.form ?? NOTHING}
<main id="main" tabindex="-1">${main}</main>
<footer><p>espalier ${version}. ${live?.footer ?? 'This page is self-contained and loads no other files.'}</p></footer>
<script>${trusted(script)}</script></body></html>
`)
}

/** The logo: a tree on its lattice. */
const LOGO = trusted(
  '<svg class="logo" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false"><path d="M10 19V2M10 15H4V10M10 15h6v-5M10 8H4V3M10 8h6V3"/></svg>',
)
