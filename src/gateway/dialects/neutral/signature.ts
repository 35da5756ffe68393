/** The vendors that sign reasoning. Signatures of Claude are valid wherever Claude runs. */
export type SignatureOrigin = 'anthropic' | 'google' | 'openai' | 'bedrock' | 'cohere' | 'mistral' | 'openrouter'

/** A mark that a vendor wants back with the reasoning of its model, to recognise it. Only the vendor that made it may see it. */
export interface Signature {
  readonly origin: SignatureOrigin
  readonly value: string
}

const origins: ReadonlySet<string> = new Set<SignatureOrigin>([
  'anthropic',
  'google',
  'openai',
  'bedrock',
  'cohere',
  'mistral',
  'openrouter',
])
const mark = 'gh1:'

/**
 * Returns a signature as a text for a client. `own` is the vendor whose signatures the client's format holds as they are; those of others get a mark,
 * by which `readSignature` recognises them when they come back.
 */
export const writeSignature = ({ origin, value }: Signature, own: SignatureOrigin | null): string =>
  origin === own ? value : `${mark}${origin}:${value}`

/** Placeholder signature for unsigned reasoning; recognised when the client sends it back. */
export const unsignedMark = `${mark}:`

/** Returns the signature that a client sends back; null for none. A text without our mark is one of `own`. */
export function readSignature(text: unknown, own: SignatureOrigin | null): Signature | null {
  if (typeof text !== 'string' || text === '') return null
  if (!text.startsWith(mark)) return own === null ? null : { origin: own, value: text }
  const end = text.indexOf(':', mark.length)
  const origin = text.slice(mark.length, end)
  return isOrigin(origin) ? { origin, value: text.slice(end + 1) } : null
}

/** Returns true if a client sends back a signature of another vendor than `own`. */
export const isForeignSignature = (text: unknown, own: SignatureOrigin): boolean =>
  typeof text === 'string' && text.startsWith(mark) && !text.startsWith(`${mark}${own}:`)

const marked = Buffer.from(`"${mark}`)

/** Returns true if a body may hold signatures of vendors other than that of its format. */
export const mayHoldSignatures = (body: Buffer): boolean => body.includes(marked)

const isOrigin = (text: string): text is SignatureOrigin => origins.has(text)
