import type { Fields } from '../../../lib/json/fields.ts'
import type { Loss } from '../neutral/loss.ts'
import type { Traits } from '../traits.ts'
import { type FieldsAtHost, withoutForeignFields } from './hosted-fields.ts'

/** The versions that name the API to clouds, in place of a header. */
export const hostedVersions: Readonly<Partial<Record<Traits['host'], string>>> = {
  vertex: 'vertex-2023-10-16',
  bedrock: 'bedrock-2023-05-31',
}

type Cloud = FieldsAtHost['host']

/**
 * The betas that each cloud supports, without their dates. A cloud refuses a request that names another, and clients name those that Anthropic has;
 * the caller's own `anthropic_beta` of the body goes on as it is.
 */
const knownBetas: Readonly<Record<Cloud, RegExp>> = {
  bedrock:
    /^(?:compact|computer-use|context-1m|context-management|dev-full-thinking|effort|fine-grained-tool-streaming|interleaved-thinking|output-128k|token-efficient-tools|tool-examples|tool-search-tool)-\d/i,
  vertex:
    /^(?:compact|computer-use|context-1m|context-management|dev-full-thinking|effort|interleaved-thinking|output-128k|token-efficient-tools|tool-examples|tool-search-tool|web-search)-\d/i,
}

/** Betas that can be dropped without loss: they identify the client, or unlock fields that are named where they are left out. */
const harmless =
  /^(?:advanced-tool-use|claude-code|extended-cache-ttl|fine-grained-tool-streaming|oauth|mid-conversation-system|prompt-caching-scope|structured-outputs)-\d/i

const cloudNames: Readonly<Record<Cloud, string>> = { bedrock: 'Bedrock', vertex: 'Vertex AI' }

export interface HostOptions {
  readonly host: Traits['host']
  /** The caller's headers `anthropic-beta`. */
  readonly betas: readonly string[]
  readonly loss: Loss
}

/** A request as a host of Claude takes it. */
export interface HostedRequest {
  readonly body: Fields
  /** The header `anthropic-beta` in place of the caller's: null for none; absent: the caller's goes on. */
  readonly betas?: string | null
}

/**
 * Returns a request of Anthropic's in a cloud's form: the path names the model, and the body the version and, on Bedrock, the betas. An unsupported
 * beta and the fields that it unlocks are removed together.
 */
export function hostedBody(body: Fields, { host, betas, loss }: HostOptions): HostedRequest {
  const version = hostedVersions[host]
  if (version === undefined || (host !== 'vertex' && host !== 'bedrock')) return { body }
  const { model: _model, stream, anthropic_beta: told, ...rest } = body
  const written: readonly unknown[] = Array.isArray(told) ? told : []
  const named = betas.flatMap((line) => line.split(',')).map((name) => name.trim())
  const insisted = written.filter((name) => typeof name === 'string')
  const plain = withoutForeignFields(rest, { host, named: [...named, ...insisted], insisted, loss })
  const kept = named.filter((name) => name !== '' && isKept(name, host, loss))
  const wanted = plain.wants.filter((name) => !insisted.includes(name))
  if (host === 'vertex')
    return {
      body: {
        anthropic_version: version,
        ...plain.body,
        ...(told !== undefined && { anthropic_beta: told }),
        ...(stream === true && { stream }),
      },
      betas: [...new Set([...kept, ...wanted])].join(',') || null,
    }
  const all = [...new Set([...written, ...kept, ...wanted])]
  return { body: { anthropic_version: version, ...plain.body, ...(all.length > 0 && { anthropic_beta: all }) }, betas: null }
}

function isKept(name: string, host: Cloud, loss: Loss): boolean {
  if (knownBetas[host].test(name)) return true
  if (harmless.test(name)) loss.note(`anthropic-beta: ${name}`)
  else loss.dropAt(`anthropic-beta: ${name}`, `is no beta of ${cloudNames[host]}`)
  return false
}
