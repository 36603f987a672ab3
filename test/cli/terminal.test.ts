import { expect, test } from 'vitest'
import { isCi, styleOf } from '../../src/cli/terminal/terminal.ts'

const terminal = { isTTY: true, columns: 132 }
const pipe = {}

test.each([
  ['a terminal', terminal, {}, {}, true],
  ['a pipe', pipe, {}, {}, false],
  ['a dumb terminal', terminal, {}, { TERM: 'dumb' }, false],
  ['NO_COLOR', terminal, {}, { NO_COLOR: '1' }, false],
  ['an empty NO_COLOR', terminal, {}, { NO_COLOR: '' }, true],
  ['FORCE_COLOR in a pipe', pipe, {}, { FORCE_COLOR: '1' }, true],
  ['FORCE_COLOR=0', terminal, {}, { FORCE_COLOR: '0' }, false],
  ['NO_COLOR and FORCE_COLOR', pipe, {}, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
  ['--no-color and FORCE_COLOR', pipe, { noColor: true }, { FORCE_COLOR: '1' }, false],
])('styleOf decides correctly whether to use colour: %s', (_name, stream, flags, env, color) => {
  expect(styleOf(stream, flags, env).color).toBe(color)
})

test('styleOf returns the width of the terminal, or 100 in a pipe', () => {
  expect(styleOf(terminal, {}, {}).width).toBe(132)
  expect(styleOf(pipe, {}, {}).width).toBe(100)
})

test.each([
  [{ CI: 'true' }, true],
  [{ CI: 'false' }, false],
  [{}, false],
])('isCi with the environment %j is %s', (env, ci) => {
  expect(isCi(env)).toBe(ci)
})
