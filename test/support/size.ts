/** Whether the long form of the tests was asked for: `NIGHTLY=1 npm test`. */
export const nightly: boolean = process.env['NIGHTLY'] === '1'

/** How often, or how long, a test does the same: in full at night, and enough to notice a fault at every build. */
export const atNight = (full: number, otherwise: number): number => (nightly ? full : otherwise)
