import { readError } from '../error-reading.ts'
import type { NeutralError } from '../neutral/error.ts'
import { fieldsByName } from '../neutral/field-names.ts'

/** The exceptions of Bedrock, and the statuses that they stand for. */
const statuses: Readonly<Record<string, number>> = {
  validationexception: 400,
  accessdeniedexception: 403,
  unrecognizedclientexception: 403,
  expiredtokenexception: 403,
  resourcenotfoundexception: 404,
  modeltimeoutexception: 408,
  modelerrorexception: 502,
  modelstreamerrorexception: 502,
  throttlingexception: 429,
  modelnotreadyexception: 429,
  servicequotaexceededexception: 429,
  internalserverexception: 500,
  serviceunavailableexception: 503,
}

export const errorFields = fieldsByName({
  maxTokens: 'inferenceConfig.maxTokens',
  temperature: 'inferenceConfig.temperature',
  topP: 'inferenceConfig.topP',
  stop: 'inferenceConfig.stopSequences',
  toolChoice: 'toolConfig.toolChoice',
  tools: 'toolConfig',
  metadata: 'requestMetadata',
  tier: 'serviceTier',
})

/** Reads an error, whose field stands in its message alone. 424 means that the model failed, which is a fault of the provider. */
export function decodeError(status: number, body: unknown): NeutralError {
  const error = readError(status, body)
  const type = error.type?.split('#').at(-1)?.split(':')[0] ?? null
  const param = /\bat '([\w.]{1,200})' failed/.exec(error.message)?.[1] ?? null
  return { ...error, type, param, status: status === 424 ? 502 : error.status }
}

/** Reads an exception within a stream, whose name is beside its message. */
export function decodeException(name: string, body: unknown): NeutralError {
  const error = readError(502, body)
  return { ...error, type: name, status: statuses[name.toLowerCase()] ?? 502 }
}
