/** Runs named cases one after the other, and prints a line for each in the form of TAP. */
let count = 0
const report = (line) => process.stdout.write(`${line}\n`)
export const ran = async (name, act) => {
  count += 1
  try {
    await act()
    report(`ok ${count} - ${name}`)
  } catch (error) {
    report(`not ok ${count} - ${name}: ${String(error?.message ?? error).split('\n')[0]}`)
  }
}
/** The case passes if the call is refused with this text: a client must not be told yes to what was not done. */
export const refused = (name, text, act) =>
  ran(name, async () => {
    const answer = await act().catch((error) => error)
    if (!(answer instanceof Error)) throw new Error(`was not refused: ${JSON.stringify(answer)?.slice(0, 200)}`)
    if (!String(answer.message).includes(text)) throw answer
  })
/** A case that is not run. */
export const skipped = (name, reason) => report(`ok - ${name} # SKIP ${reason}`)
