import { z } from 'zod'
import { textField } from './text/text.ts'

/** Every log row carries them; as many as a request may send. */
const maxPairs = 64

const isFew = (pairs: object): boolean => Object.keys(pairs).length <= maxPairs
const tooMany = `At most ${maxPairs} pairs are allowed.`
const [name, text] = [textField(255).min(1), textField(1024)]

/** Metadata that requests start from. */
export const metadataField = z.record(name, text).refine(isFew, tooMany)

/** Returns metadata of which some pairs have a meaning, and bounds of their own. */
export const metadataWith = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .object(shape)
    .catchall(text)
    .refine(isFew, { error: tooMany, abort: true })
    .refine((pairs) => Object.keys(pairs).every((key) => name.safeParse(key).success), 'The name of a pair has 1 to 255 characters.')
