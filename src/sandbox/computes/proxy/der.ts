/** Encodes the DER values (ITU-T X.690) that certificates need. */

const value = (tag: number, contents: Buffer): Buffer => Buffer.concat([Buffer.of(tag), lengthOf(contents), contents])

const lengthOf = ({ length }: Buffer): Buffer => {
  if (length < 0x80) return Buffer.of(length)
  const bytes = length < 0x100 ? [length] : [length >> 8, length & 0xff]
  return Buffer.of(0x80 | bytes.length, ...bytes)
}

export const sequence = (...parts: readonly Buffer[]): Buffer => value(0x30, Buffer.concat(parts))

export const set = (...parts: readonly Buffer[]): Buffer => value(0x31, Buffer.concat(parts))

export const boolean = (is: boolean): Buffer => value(0x01, Buffer.of(is ? 0xff : 0))

/** @param bytes a non-negative number, with the most significant byte first. */
export const integer = (bytes: Buffer): Buffer => {
  const start = bytes.findIndex((byte) => byte !== 0)
  const significant = start < 0 ? Buffer.of(0) : bytes.subarray(start)
  return value(0x02, (significant[0] ?? 0) < 0x80 ? significant : Buffer.concat([Buffer.of(0), significant]))
}

export const bits = (bytes: Buffer): Buffer => value(0x03, Buffer.concat([Buffer.of(0), bytes]))

export const octets = (bytes: Buffer): Buffer => value(0x04, bytes)

export const text = (text: string): Buffer => value(0x0c, Buffer.from(text))

export const objectId = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return value(0x06, Buffer.from([first * 40 + second, ...rest].flatMap(base128)))
}

const base128 = (number: number): number[] =>
  number < 0x80 ? [number] : [...base128(number >> 7).map((byte) => byte | 0x80), number & 0x7f]

/** Years before 2050 have two digits, and later ones have four (RFC 5280, 4.1.2.5). */
export const time = (ms: number): Buffer => {
  const digits = `${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`
  return digits < '2050' ? value(0x17, Buffer.from(digits.slice(2))) : value(0x18, Buffer.from(digits))
}

export const explicit = (tag: number, contents: Buffer): Buffer => value(0xa0 | tag, contents)

export const implicit = (tag: number, contents: Buffer): Buffer => value(0x80 | tag, contents)
