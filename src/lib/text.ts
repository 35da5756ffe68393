import { z } from 'zod'

/** Text that PostgreSQL can store in text and jsonb columns: no NUL, no half of a surrogate pair. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** Free text of a caller, at most `max` characters. */
export const textField = (max: number) => z.string().max(max).refine(isStorable, 'NUL characters and broken Unicode are not allowed.')
