/** The layers of price lists as answers name them. */
export type Source = 'proxy' | 'log_store' | 'local' | 'built_in'

/** Returns a layer as answers name it. */
export const sourceOf = (name: string): Source => (name === 'proxy' || name === 'log_store' || name === 'local' ? name : 'built_in')

/** Returns an age in seconds; null: there is none. */
export const ageSeconds = (ms: number | null): number | null => (ms === null ? null : Math.round(ms / 1000))
