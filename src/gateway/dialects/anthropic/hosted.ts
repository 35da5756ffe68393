import type { Fields } from '../../../lib/json/fields.ts'
import type { Loss } from '../neutral/loss.ts'
import type { Traits } from '../traits.ts'

/** The versions that name the API to clouds, in place of a header. */
export const hostedVersions: Readonly<Partial<Record<Traits['host'], string>>> = {
  vertex: 'vertex-2023-10-16',
  bedrock: 'bedrock-2023-05-31',
}

/**
 * The betas that Bedrock knows, without their dates. It refuses a request that names another, and clients name those that Anthropic has; what
 * the caller itself writes into `anthropic_beta` of the body goes on as it is.
 */
const bedrockBetas =
  /^(?:computer-use|context-1m|context-management|dev-full-thinking|effort|interleaved-thinking|output-128k|token-efficient-tools|tool-examples|tool-search-tool)-\d/i

const isBedrockBeta = (name: string): boolean => bedrockBetas.test(name)

export interface Hosting {
  readonly host: Traits['host']
  /** The caller's header `anthropic-beta`; null: it sent none. */
  readonly betas: string | null
  readonly loss: Loss
}

/** Returns a request of Anthropic's as a cloud takes it: the path names the model, and the body the version and, on Bedrock, the betas. */
export function hostedBody(body: Fields, { host, betas, loss }: Hosting): Fields {
  const version = hostedVersions[host]
  if (version === undefined) return body
  const { model: _model, stream, ...rest } = body
  if (host === 'vertex') return { anthropic_version: version, ...rest, ...(stream === true && { stream }) }
  const named = (betas ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  for (const name of named) if (!isBedrockBeta(name)) loss.dropAt(`anthropic-beta: ${name}`, 'is no beta of Bedrock')
  const given: readonly unknown[] = Array.isArray(body['anthropic_beta']) ? body['anthropic_beta'] : []
  const all = [...new Set([...given, ...named.filter(isBedrockBeta)])]
  return { anthropic_version: version, ...rest, ...(all.length > 0 && { anthropic_beta: all }) }
}
