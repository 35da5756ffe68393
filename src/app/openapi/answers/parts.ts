import { z } from 'zod'

/** A field that a provider may leave out, or answer as null. */
export const maybe = <T extends z.ZodType>(schema: T) => schema.nullish()

export const text = z.string()
export const count = z.int()
export const moment = z.int().meta({ description: 'Unix timestamp in seconds.' })

/** Makes the schema of a provider's object: it may have fields beside the listed ones. */
export const open = z.looseObject

/** At most 16 pairs: keys of at most 64 characters, values of at most 512. */
export const metadata = z.record(z.string(), z.unknown()).meta({
  description: 'At most 16 pairs, with keys of at most 64 characters and values of at most 512.',
})

/** A page of a provider's list, with cursors where it answers them. */
export const page = <Item extends z.ZodType>(id: string, item: Item, description: string) =>
  open({
    object: z.literal('list'),
    data: z.array(item),
    has_more: z.boolean().meta({ description: 'True: there is a further page; its `after` is the last id of this one.' }),
    first_id: maybe(text),
    last_id: maybe(text),
  }).meta({ id, description })
