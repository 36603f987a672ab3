import { execFileSync } from 'node:child_process'

/** The end-to-end tests run the built program, so it is built once before any of them. */
export default function buildOnce(): void {
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' })
}
