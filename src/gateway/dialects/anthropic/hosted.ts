import type { Fields } from '../../../lib/json/fields.ts'
import type { Traits } from '../traits.ts'

/** The versions that name the API to clouds, in place of a header. */
export const hostedVersions: Readonly<Partial<Record<Traits['host'], string>>> = {
  vertex: 'vertex-2023-10-16',
  bedrock: 'bedrock-2023-05-31',
}

/** Returns a request of Anthropic's as a cloud takes it: the path names the model, and the body the version and, on Bedrock, the betas. */
export function hostedBody(body: Fields, host: Traits['host'], betas: string | null): Fields {
  const version = hostedVersions[host]
  if (version === undefined) return body
  const { model: _model, stream, ...rest } = body
  if (host === 'vertex') return { anthropic_version: version, ...rest, ...(stream === true && { stream }) }
  const named = (betas ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const given: readonly unknown[] = Array.isArray(body['anthropic_beta']) ? body['anthropic_beta'] : []
  const all = [...new Set([...given, ...named])]
  return { anthropic_version: version, ...rest, ...(all.length > 0 && { anthropic_beta: all }) }
}
