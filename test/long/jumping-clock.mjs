// Preloaded into the program. Simulates a machine whose clock is repeatedly set back two hours and forward again.
const HOURS_MS = 2 * 3_600_000
const real = Date.now
let asked = 0
Date.now = () => {
  asked += 1
  return asked % 20 < 10 ? real() : real() - HOURS_MS
}
