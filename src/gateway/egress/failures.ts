import type { ErrorCode } from '../../lib/errors.ts'
import { ApiError } from '../../lib/errors.ts'
import { ConnectTimeoutError } from './connect.ts'
import { ProxyError } from './proxies.ts'

/** A duration as people say it: `250 ms`, `30 s`. */
export function duration(ms: number): string {
  return ms >= 1000 ? `${Number((ms / 1000).toFixed(1))} s` : `${ms} ms`
}

/** An exchange that failed. */
export interface FailedExchange {
  /** The name of the host, or words for one that has only an address. */
  readonly host: string
  /** True once the headers of the response have come. */
  readonly answered: boolean
}

/** Returns the fault of an exchange, with the host's name and without addresses: the message may reach a caller, the cause only our log. */
export function toFailure(error: Error, { host, answered }: FailedExchange): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof ConnectTimeoutError) {
    return new ApiError('upstream_timeout', `${host} could not be connected to within ${duration(error.timeoutMs)}.`, { cause: error })
  }
  if (error instanceof ProxyError) return new ApiError('upstream_unreachable', proxyMessage(error), { cause: error })
  const [code, message] = explain(error, { host, answered })
  return new ApiError(code, message, { cause: error })
}

/** With the words for the failure of the connection to the proxy, where there is one. */
function proxyMessage({ setting, told, cause }: ProxyError): string {
  const words =
    cause instanceof Error ? (unreachable[codeOf(cause)] ?? (isTlsCode(codeOf(cause)) ? 'the TLS connection failed' : null)) : null
  return `The proxy that ${setting} names ${told}${words === null ? '' : `: ${words}`}.`
}

type Explanation = readonly [ErrorCode, string]

function explain(error: Error, { host, answered }: FailedExchange): Explanation {
  const code = codeOf(error)
  const known = table[code]
  if (known !== undefined) return known
  if (code.startsWith('HPE_INVALID_EOF') || (answered && brokenOff.has(code))) {
    return ['upstream_bad_response', 'The provider broke off in the middle of its answer.']
  }
  if (error.name === 'HTTPParserError') return ['upstream_bad_response', 'The provider sent an answer that is not valid HTTP.']
  if (code === 'UND_ERR_SOCKET') return explainSocket(error.message)
  if (code in unreachable) return ['upstream_unreachable', `${host} could not be reached: ${unreachable[code]}.`]
  if (isTlsCode(code)) return ['upstream_unreachable', `${host} could not be reached: the TLS connection failed (${code}).`]
  return ['internal', 'Something went wrong on our side. Quote the request id when you report it.']
}

function explainSocket(message: string): Explanation {
  return message.startsWith('bad ')
    ? ['upstream_bad_response', 'The provider sent an answer that was not asked for.']
    : ['upstream_unreachable', 'The provider closed the connection without an answer.']
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

const unsendable: Explanation = ['invalid_request', 'The request cannot be sent: a header, the path or the method is not valid HTTP.']

const table: Readonly<Record<string, Explanation>> = {
  UND_ERR_HEADERS_OVERFLOW: ['upstream_bad_response', 'The provider sent more than 64 KB of headers.'],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['upstream_bad_response', 'The length of the body of the provider differs from its header.'],
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: ['invalid_request', 'The request body has another length than its content-length.'],
  UND_ERR_INVALID_ARG: unsendable,
  UND_ERR_NOT_SUPPORTED: unsendable,
}

/** The names of a lost connection, by the layer that noticed. */
const brokenOff: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNABORTED', 'ENETRESET'])

const unreachable: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'it refused the connection',
  ECONNRESET: 'it reset the connection',
  EPIPE: 'it closed the connection',
  ECONNABORTED: 'the connection broke',
  ETIMEDOUT: 'it did not answer',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  EHOSTDOWN: 'it is down',
  EADDRNOTAVAIL: 'no local address is free',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  EACCES: 'the system does not permit it',
  EPERM: 'the system does not permit it',
  ENOTFOUND: 'its name is not known',
  ENODATA: 'its name has no address',
  ENONAME: 'its name is not known',
  EBADNAME: 'its name is not valid',
  EAI_AGAIN: 'its name could not be resolved',
  EAI_FAIL: 'its name could not be resolved',
  EAI_NODATA: 'its name has no address',
  ESERVFAIL: 'its name could not be resolved',
  EREFUSED: 'its name could not be resolved',
  ETIMEOUT: 'its name could not be resolved in time',
  CERT_HAS_EXPIRED: 'its TLS certificate has expired',
  CERT_NOT_YET_VALID: 'its TLS certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its TLS certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its TLS certificate comes from an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'its TLS certificate comes from an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its TLS certificate comes from an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its TLS certificate comes from an unknown authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its TLS certificate is for another name',
}

/** Returns whether the other side closed the connection, or broke it off. */
export const isLost = (error: Error): boolean => brokenOff.has(codeOf(error)) && !error.message.startsWith('bad ')

function isTlsCode(code: string): boolean {
  return code === 'EPROTO' || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code.startsWith('CERT_')
}
