import { hash, timingSafeEqual } from 'node:crypto'

/** Returns whether two texts are the same, in a time that does not depend on how much of them is; they may be of any length and alphabet. */
export const isSameText = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

const digest = (text: string): Buffer => hash('sha256', text, 'buffer')
