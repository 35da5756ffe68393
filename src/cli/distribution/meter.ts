/** Reports the progress of long work on standard error. */
export interface Meter {
  readonly step: (text: string) => void
  readonly bytes: (count: number) => void
  /** Ends the line that is being rewritten. */
  readonly end: () => void
}

const terminalMs = 200
const logMs = 10_000

/** A meter for `total` bytes, if they are known: one line that is rewritten on a terminal, else a line every ten seconds. */
export function createMeter(what: string, total: number | null = null): Meter {
  const { isTTY } = process.stderr
  let done = 0
  let told = performance.now()
  let open = false
  const end = () => {
    if (open) process.stderr.write('\n')
    open = false
  }
  return {
    step(text) {
      end()
      console.error(text)
    },
    bytes(count) {
      done += count
      const now = performance.now()
      if (now - told < (isTTY ? terminalMs : logMs)) return
      told = now
      open = isTTY
      if (isTTY) process.stderr.write(`\r${line(what, done, total)}`)
      else console.error(line(what, done, total))
    },
    end,
  }
}

function line(what: string, done: number, total: number | null): string {
  const share = total === null || total === 0 ? '' : ` of ${readable(total)} (${Math.floor((100 * done) / total)} %)`
  return `${what}: ${readable(done)}${share}`
}

const units = ['bytes', 'KB', 'MB', 'GB', 'TB']

/** `412 MB` */
export function readable(bytes: number): string {
  const power = bytes === 0 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1)
  const value = bytes / 1000 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power] ?? ''}`
}
