const file = new URL('skewed-clock.mjs', import.meta.url)

/** Returns the environment of a process whose clock is wrong by so many milliseconds. */
export const skewedClock = (skewMs: number): Readonly<Record<string, string>> =>
  skewMs === 0 ? {} : { NODE_OPTIONS: `--import=${file.href}?ms=${skewMs}` }
