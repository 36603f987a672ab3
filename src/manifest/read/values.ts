/** Single values: each reader returns what it read, or reports why it cannot. */
import { isScalar, isSeq, type Node } from 'yaml'
import {
  formatDuration,
  globProblem,
  nearestStep,
  parseDuration,
  SCALE_TO_ZERO_DEFAULT,
  SCALE_TO_ZERO_MAX_SECONDS,
  SCALE_TO_ZERO_MIN_SECONDS,
  SCALE_TO_ZERO_NEVER,
  type Size,
  sizeStep,
} from '../../model/index.ts'
import { list, type ReadContext } from './context.ts'

export const readBoolean = (context: ReadContext, node: Node | null, what: string): boolean | undefined =>
  isScalar(node) && typeof node.value === 'boolean'
    ? node.value
    : context.wrongType(node, what, '`true` or `false`', booleanHint(node))

const WORDS: Readonly<Record<string, boolean>> = { yes: true, on: true, y: true, no: false, off: false, n: false }

/** What YAML 1.1 took for booleans. */
const booleanHint = (node: Node | null): string | undefined => {
  const meant = isScalar(node) ? WORDS[String(node.value).toLowerCase()] : undefined
  return meant === undefined
    ? undefined
    : `Write \`${meant}\`: in YAML 1.2, \`${String(isScalar(node) && node.value)}\` is text.`
}

/** Text, or a number or boolean where `loose`: Postgres settings are written as they look. */
export const readText = (context: ReadContext, node: Node | null, what: string, loose = false): string | undefined => {
  if (isScalar(node)) {
    if (typeof node.value === 'string') return node.value
    if (loose && (typeof node.value === 'number' || typeof node.value === 'boolean'))
      return node.source ?? String(node.value)
  }
  return context.wrongType(node, what, 'text')
}

export const readTexts = (context: ReadContext, node: Node | null, what: string): readonly string[] | undefined => {
  if (!isSeq(node)) return context.wrongType(node, what, 'a list')
  const texts = node.items.map((item) => readText(context, context.follow(item as Node), `An entry of ${what}`))
  return texts.filter((text) => text !== undefined)
}

const CONTROL = /\p{Cc}/u

/** 1 to 64 characters (public OpenAPI of the service). */
export const readName = (context: ReadContext, node: Node | null, name: string | undefined): string | undefined => {
  if (name === undefined) return undefined
  if (name.length === 0 || name.length > 64 || CONTROL.test(name)) {
    return context.report('E_NAME', node, 'A compute name has 1 to 64 characters, none of them a control character.')
  }
  return name
}

export const readPin = (context: ReadContext, node: Node | null): string | undefined => {
  const id = readText(context, node, '`id`')
  if (id === undefined || /^ep-[a-z0-9-]{1,57}$/.test(id)) return id
  return context.report(
    'E_PIN',
    node,
    'A pin is the id of a compute, which starts with `ep-`.',
    '`espalier plan` shows the ids.',
  )
}

export const readGlob = (context: ReadContext, node: Node | null, what: string): string | undefined => {
  const glob = readText(context, node, what)
  const wrong = glob === undefined ? undefined : globProblem(glob)
  return wrong === undefined ? glob : context.report('E_GLOB', node, `This is no glob: ${wrong}.`)
}

/** Those units only with which it is in range. */
const withUnits = (number: string): string => {
  const fitting = ['s', 'm'].map((unit) => `${number}${unit}`).filter((text) => isInRange(parseDuration(text)))
  return fitting.length === 0 ? 'It takes from 1m to 7d' : `Write ${list(fitting)}`
}

const isInRange = (seconds: number | undefined): boolean =>
  seconds !== undefined && seconds >= SCALE_TO_ZERO_MIN_SECONDS && seconds <= SCALE_TO_ZERO_MAX_SECONDS

/** Seconds as the API takes them. */
export const readScaleToZero = (context: ReadContext, node: Node | null): number | undefined => {
  if (isScalar(node) && typeof node.value === 'number') {
    return context.report(
      'E_DURATION_UNIT',
      node,
      `\`scaleToZero: ${node.source ?? node.value}\` lacks its unit.`,
      `${withUnits(String(node.value))}; \`default\` and \`never\` are words.`,
    )
  }
  const text = readText(context, node, '`scaleToZero`')
  if (text === undefined) return undefined
  if (text === 'default') return SCALE_TO_ZERO_DEFAULT
  if (text === 'never') return SCALE_TO_ZERO_NEVER
  const seconds = parseDuration(text)
  if (seconds === undefined) {
    return context.report(
      'E_DURATION',
      node,
      '`scaleToZero` is `default`, `never` or a duration such as `90s`, `5m` or `1h30m`.',
      /^\d+$/.test(text) ? `${withUnits(text)}.` : 'Units are d, h, m and s, in this order.',
    )
  }
  if (!isInRange(seconds)) {
    const near = Math.min(Math.max(seconds, SCALE_TO_ZERO_MIN_SECONDS), SCALE_TO_ZERO_MAX_SECONDS)
    return context.report(
      'E_DURATION_RANGE',
      node,
      '`scaleToZero` takes from 1m to 7d.',
      `The nearest is \`${formatDuration(near)}\`.`,
    )
  }
  return seconds
}

/** A fixed size, or a range in which the service scales. */
export const readSize = (context: ReadContext, node: Node | null): Size | undefined => {
  if (isScalar(node)) {
    const cu = readStep(context, node, '`size`')
    return cu === undefined ? undefined : { min: cu, max: cu }
  }
  const entries = context.known(node, '`size`', ['min', 'max'])
  if (entries === undefined) return undefined
  const [minEntry, maxEntry] = [entries.get('min'), entries.get('max')]
  for (const [name, entry] of [
    ['min', minEntry],
    ['max', maxEntry],
  ] as const) {
    if (entry === undefined)
      context.report('E_REQUIRED', node, `A size range needs \`${name}\`.`, 'A fixed size is a number: `size: 2`.')
  }
  if (minEntry === undefined || maxEntry === undefined) return undefined
  const min = readStep(context, minEntry.value, '`min`')
  const max = readStep(context, maxEntry.value, '`max`')
  return min === undefined || max === undefined
    ? undefined
    : checkRange(context, { min, max }, maxEntry.value, minEntry.value)
}

const readStep = (context: ReadContext, node: Node | null, what: string): number | undefined => {
  if (!isScalar(node) || typeof node.value !== 'number')
    return context.wrongType(node, what, 'a number of compute units')
  const table = context.sizeTable
  if (sizeStep(node.value, table) !== undefined) return node.value
  const near = nearestStep(node.value, table)
  return context.report(
    'E_SIZE_STEP',
    node,
    `${node.source ?? node.value} CU is no compute size: sizes are 0.25, 0.5, whole numbers from 1 to 16 and even numbers from 18 to 56.`,
    near === undefined ? undefined : `The nearest is \`${near.cu}\`.`,
  )
}

const checkRange = (
  context: ReadContext,
  { min, max }: Size,
  maxNode: Node | null,
  minNode: Node | null,
): Size | undefined => {
  const { autoscalingMaxCu, maxSpreadCu } = context.sizeTable
  if (min > max) {
    return context.report(
      'E_MIN_ABOVE_MAX',
      minNode,
      `\`min\` (${min} CU) is above \`max\` (${max} CU).`,
      `Write \`{ min: ${max}, max: ${min} }\`.`,
    )
  }
  if (max > autoscalingMaxCu && min !== max) {
    return context.report(
      'E_AUTOSCALING_MAX',
      maxNode,
      `Autoscaling goes up to ${autoscalingMaxCu} CU, and \`max\` is ${max}.`,
      `Write \`max: ${autoscalingMaxCu}\`, or a fixed size: \`size: ${max}\`.`,
    )
  }
  if (max - min > maxSpreadCu) {
    return context.report(
      'E_SPREAD',
      maxNode,
      `\`max\` may be at most ${maxSpreadCu} CU above \`min\`, and ${max} is ${max - min} above ${min}.`,
      `The nearest is \`max: ${nearestStep(min + maxSpreadCu, context.sizeTable)?.cu ?? min + maxSpreadCu}\`.`,
    )
  }
  return { min, max }
}
