import { z } from 'zod'
import { textField } from './text/text.ts'

/** Every log row carries them; as many as a request may send. */
const maxPairs = 64

/** Metadata that requests start from. */
export const metadataField = z
  .record(textField(255).min(1), textField(1024))
  .refine((pairs) => Object.keys(pairs).length <= maxPairs, `At most ${maxPairs} pairs are allowed.`)
