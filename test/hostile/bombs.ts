/** Inputs that try to exhaust memory or time. */

const HEAD = 'version: 1\nproject: shop\n'
const MIB = 1024 * 1024

/** Repeats `part` up to this many bytes. */
const fill = (part: string, bytes: number): string => part.repeat(Math.floor(bytes / part.length))

/** Each anchor references the previous one ten times ("billion laughs"). */
const laughs = (levels: number): string =>
  Array.from({ length: levels }, (_, level) =>
    level === 0
      ? 'a0: &a0 [x, x]'
      : `a${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join(', ')}]`,
  ).join('\n')

/** Manifests, by attack. */
export const MANIFEST_BOMBS: Readonly<Record<string, () => string>> = {
  'aliases of aliases': () => `${HEAD}branches:\n  main:\n    primary: *a9\n${laughs(10)}\n`,
  'flow brackets, a million deep': () => `${HEAD}branches: ${'['.repeat(MIB)}`,
  'blocks, five thousand deep': () =>
    HEAD + Array.from({ length: 5_000 }, (_, level) => `${' '.repeat(level)}a:`).join('\n'),
  '50 MB': () => `${HEAD}branches:\n${fill('  a: {}\n', 50 * MIB)}`,
  '31 MiB of keys': () => `${HEAD}branches:\n${fill('  a: {}\n', 31 * MIB)}`,
  '31 MiB of brackets': () => fill('[],', 31 * MIB),
  '31 MiB of one key': () => `${HEAD}${fill('a', 31 * MIB)}: 1\n`,
  '31 MiB of documents': () => fill('---\n', 31 * MIB),
  'a hundred thousand branches': () =>
    `${HEAD}branches:\n${Array.from({ length: 100_000 }, (_, index) => `  b${index}: {primary: {size: 1}}`).join('\n')}\n`,
  'ten thousand invalid branches': () =>
    `${HEAD}branches:\n${Array.from({ length: 10_000 }, (_, index) => `  b${index}: {primari: {size: 3.5}}`).join('\n')}\n`,
  'twenty thousand rules': () =>
    `${HEAD}rules:\n${fill('  - {match: "{a,b}{c,d}{e,f}*[!x]**", primary: {size: 1}}\n', MIB)}`,
}

/** JSON for plans, snapshots and responses, by attack. */
export const JSON_BOMBS: Readonly<Record<string, () => string>> = {
  'objects in objects': () => `${'{"a":'.repeat(1_000_000)}1${'}'.repeat(1_000_000)}`,
  '30 MB of empty lists': () => `[${fill('[],', 30_000_000)}[]]`,
  '30 MB of keys': () => `{${Array.from({ length: 2_000_000 }, (_, index) => `"k${index}":1`).join(',')}}`,
  'a million prototypes': () => `{${fill('"__proto__":{"x":1},', 20_000_000)}"a":1}`,
}
