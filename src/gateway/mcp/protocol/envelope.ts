import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { mcpFault } from './faults.ts'
import { modernRevisions } from './revisions.ts'

const prefix = 'io.modelcontextprotocol/'
/** The fields of `_meta` that the protocol reserves. */
export const metaKeys = {
  version: `${prefix}protocolVersion`,
  capabilities: `${prefix}clientCapabilities`,
  client: `${prefix}clientInfo`,
  logLevel: `${prefix}logLevel`,
  server: `${prefix}serverInfo`,
  subscription: `${prefix}subscriptionId`,
} as const

/** The facts about its client that each modern request carries, and that a legacy client states once. */
export interface ClientFacts {
  readonly capabilities: Fields
  /** Null: unknown. */
  readonly info: Fields | null
}

/** The envelope of a modern request. */
export interface Envelope extends ClientFacts {
  readonly version: string
  /** Null: it wants no log messages. */
  readonly logLevel: string | null
}

export const metaOf = ({ _meta }: Fields): Fields => (isFields(_meta) ? _meta : noMeta)
const noMeta: Fields = {}

/** Returns true if the parameters of a message have a part of the envelope, and so are of a modern client. */
export const hasEnvelope = (params: Fields): boolean => Object.hasOwn(metaOf(params), metaKeys.version)

/** Reads the envelope. Throws for one that lacks a part. Its version may be one that is not spoken. */
export function readEnvelope(params: Fields): Envelope {
  const meta = metaOf(params)
  const version = meta[metaKeys.version]
  const capabilities = meta[metaKeys.capabilities]
  const [info, logLevel] = [meta[metaKeys.client], meta[metaKeys.logLevel]]
  const missing = [metaKeys.version, metaKeys.capabilities].filter((key) => !Object.hasOwn(meta, key))
  if (missing.length > 0) throw invalid(`The request lacks params._meta["${missing.join('"] and ["')}"].`, { missing })
  if (typeof version !== 'string') throw invalid(`params._meta["${metaKeys.version}"] must be a text.`)
  if (!isFields(capabilities)) throw invalid(`params._meta["${metaKeys.capabilities}"] must be an object.`)
  if (info !== undefined && !isFields(info)) throw invalid(`params._meta["${metaKeys.client}"] must be an object.`)
  if (logLevel !== undefined && (typeof logLevel !== 'string' || !isLogLevel(logLevel)))
    throw invalid(`params._meta["${metaKeys.logLevel}"] must be one of ${logLevels.join(', ')}.`)
  return { version, capabilities, info: info ?? null, logLevel: logLevel ?? null }
}

const invalid = (message: string, data?: unknown) => mcpFault('invalidParams', message, data)

/** The refusal of a version that is not spoken. */
export const unsupported = (requested: string) =>
  mcpFault('unsupportedVersion', `The protocol version ${JSON.stringify(requested.slice(0, 40))} is not spoken here.`, {
    supported: modernRevisions,
    requested,
  })

/** From the least to the most important. */
const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']
export const isLogLevel = (level: string): boolean => logLevels.includes(level)

/** Returns true if a message of this level is wanted from a level on. */
export const isWanted = (level: unknown, from: string): boolean =>
  typeof level === 'string' && logLevels.indexOf(level) >= logLevels.indexOf(from)

const ofEnvelope: ReadonlySet<string> = new Set([metaKeys.version, metaKeys.capabilities, metaKeys.client, metaKeys.logLevel])

/** Returns parameters without the envelope; the rest of `_meta` stays. */
export function withoutEnvelope(params: Fields): Fields {
  const meta = metaOf(params)
  if (!Object.keys(meta).some((key) => ofEnvelope.has(key))) return params
  const { _meta: _, ...rest } = params
  const kept = Object.fromEntries(Object.entries(meta).filter(([key]) => !ofEnvelope.has(key)))
  return Object.keys(kept).length === 0 ? rest : { ...rest, _meta: kept }
}

/** Returns parameters with more fields in their `_meta`. */
export const withMeta = (params: Fields, more: Fields): Fields => ({ ...params, _meta: { ...metaOf(params), ...more } })

/** Returns parameters with the envelope of a client. */
export const withEnvelope = (params: Fields, { version, capabilities, info, logLevel }: Envelope): Fields =>
  withMeta(params, {
    [metaKeys.version]: version,
    [metaKeys.capabilities]: capabilities,
    ...(info !== null && { [metaKeys.client]: info }),
    ...(logLevel !== null && { [metaKeys.logLevel]: logLevel }),
  })
