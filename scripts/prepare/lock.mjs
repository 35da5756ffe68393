// One preparation of a checkout at a time. Plain Node >= 18 without dependencies, because it runs before anything is installed.
import * as fs from 'node:fs'
import * as path from 'node:path'

const staleLockMs = 15 * 60_000

/** Takes the lock and gives the function that returns it; the others wait for it and then find nothing to do. */
export function lock(lockFile) {
  fs.mkdirSync(path.dirname(lockFile), { recursive: true })
  const mine = `${lockFile}.${process.pid}`
  fs.writeFileSync(mine, String(process.pid))
  try {
    while (!takeLock(mine, lockFile)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  } finally {
    fs.rmSync(mine, { force: true })
  }
  return () => fs.rmSync(lockFile, { force: true })
}

/** A hard link appears with its content, so nobody ever reads a lock without its owner. */
function takeLock(mine, lockFile) {
  try {
    fs.linkSync(mine, lockFile)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    if (lockIsStale(lockFile)) fs.rmSync(lockFile, { force: true })
    return false
  }
}

function lockIsStale(lockFile) {
  try {
    if (Date.now() - fs.statSync(lockFile).mtimeMs > staleLockMs) return true
    process.kill(Number(fs.readFileSync(lockFile, 'utf8')), 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}
