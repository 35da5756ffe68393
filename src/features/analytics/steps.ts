export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** The length of the times that the points of a graph stand for. */
export const steps = { minute: minuteMs, hour: hourMs, day: dayMs } as const
export type Step = keyof typeof steps

const longestInMinutes = 3 * hourMs
const longestInHours = 3 * dayMs

/** Returns a step by which a range has neither too few nor too many points. */
export const stepFor = (ms: number): Step => (ms <= longestInMinutes ? 'minute' : ms <= longestInHours ? 'hour' : 'day')
