// Loaded into the program before itself: a machine whose clock is set two hours back, and on again, all the time.
const HOURS_MS = 2 * 3_600_000
const real = Date.now
let asked = 0
Date.now = () => {
  asked += 1
  return asked % 20 < 10 ? real() : real() - HOURS_MS
}
