// Loaded before a program (`--import`): appends to the file that TURN_PROBE names how many milliseconds of CPU time the main thread spends in six
// turns of its event loop, one line for each look. So many turns pass while a small request goes through, and other processes of a busy machine are
// no part of the figure.
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const [everyMs, turns] = [50, 6]

function look() {
  const before = process.threadCpuUsage()
  const pass = (left) => {
    if (left > 0) {
      setImmediate(pass, left - 1)
      return
    }
    const { user, system } = process.threadCpuUsage(before)
    appendFileSync(process.env.TURN_PROBE, `${(user + system) / 1000}\n`)
  }
  pass(turns)
}

if (isMainThread) setInterval(look, everyMs).unref()
