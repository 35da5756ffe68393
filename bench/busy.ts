// A neighbour: walks through more memory than the caches hold, so that other processes on them have to fetch their data again.
const bytes = new Uint8Array(64 * 1024 * 1024)
const line = 64
let sum = 0

/** One walk takes some milliseconds; between two a message can end the process. */
function walk(): void {
  for (let at = 0; at < bytes.length; at += line) sum += bytes[at] = (sum + at) & 255
  setImmediate(walk)
}

process.once('disconnect', () => process.exit(0))
walk()
