import { z } from 'zod'

/** The query field of a list that asks for some of its rows by their ids or names: `a,b`. */
export const idsFilter = (what: string) =>
  z
    .string()
    .max(10_000)
    .transform((text) => text.split(',').map((reference) => reference.trim()))
    .pipe(z.array(z.string().min(1).max(255)).max(100))
    .optional()
    .meta({ description: `Comma-separated ${what}: only these.` })
