/** Names in the forms of the service: `ep-word-word-xxxxxxxx`, `br-word-word-xxxxxxxx`. */
import { randomBytes, randomInt } from 'node:crypto'

const FIRST = [
  'aged',
  'bold',
  'calm',
  'cold',
  'dawn',
  'fair',
  'gold',
  'hidden',
  'icy',
  'late',
  'lucky',
  'mild',
  'old',
  'plain',
  'proud',
  'quiet',
  'raspy',
  'shy',
  'still',
  'warm',
]
const SECOND = [
  'base',
  'bird',
  'bread',
  'brook',
  'cell',
  'dew',
  'fire',
  'fog',
  'frog',
  'hall',
  'king',
  'lake',
  'leaf',
  'math',
  'moon',
  'night',
  'pine',
  'rain',
  'sea',
  'sun',
]

const pick = (words: readonly string[]): string => words[randomInt(words.length)] ?? 'plain'

export const newId = (prefix: 'ep' | 'br'): string =>
  `${prefix}-${pick(FIRST)}-${pick(SECOND)}-a${randomBytes(4).toString('hex').slice(0, 7)}`
