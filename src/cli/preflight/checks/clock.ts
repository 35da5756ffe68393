import { fail, ok, warn, type Check } from '../check.ts'

const rounds = 3
const warnMs = 2000
const failMs = 60_000

/** Checks that this machine and the database agree on the time. */
export const clockCheck: Check = {
  id: 'clock',
  about: 'The clocks of this machine and of the database agree: keys expire, tokens are checked and logs are ordered by them.',
  remedy: 'Turn time synchronisation on (chrony, systemd-timesyncd, or that of the hypervisor) on both machines.',
  quick: true,
  async run(stage) {
    const { client } = await stage.database()
    const measured: { readonly offsetMs: number; readonly tripMs: number }[] = []
    for (let round = 0; round < rounds; round += 1) {
      const sentAt = Date.now()
      const { rows } = await client.query<{ ms: number }>('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms')
      const tripMs = Date.now() - sentAt
      measured.push({ offsetMs: (rows[0]?.ms ?? Number.NaN) - (sentAt + tripMs / 2), tripMs })
    }
    // The quickest answer is the most exact.
    const best = measured.reduce((one, other) => (other.tripMs < one.tripMs ? other : one))
    return judgeClock(best.offsetMs)
  },
}

/** The verdict on how far the database is ahead of this machine. */
export function judgeClock(offsetMs: number) {
  const apart = Math.abs(offsetMs)
  const words = `this machine is ${(apart / 1000).toFixed(1)} s ${offsetMs > 0 ? 'behind' : 'ahead of'} the database`
  const fix = 'Turn time synchronisation on, on both machines.'
  if (apart > failMs) return fail(words, fix)
  return apart > warnMs ? warn(words, fix) : ok(`${Math.round(apart)} ms apart from the database`)
}
