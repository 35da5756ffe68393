import { ByteList } from '../../lib/collections/byte-list.ts'
import { ApiError } from '../../lib/errors.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import { clientCodecOf, providerCodecOf } from '../dialects/codecs.ts'
import type { DialectId } from '../dialects/dialect.ts'
import { inClientWords } from '../dialects/neutral/field-names.ts'
import { countClients, readCount } from '../dialects/token-counts.ts'
import type { EgressHandler } from '../egress/egress.ts'
import { decompress } from '../wire/encoding.ts'
import { headersWithout, headerValue } from '../wire/header-list.ts'
import { headersFor } from './inspect/answer-head.ts'

export interface CountAnswerOptions {
  readonly inner: EgressHandler
  readonly from: DialectId
  readonly to: DialectId
  readonly requestId: string
  /** So much of an answer is held. */
  readonly maxHeldBytes: number
}

/** Turns a provider's count of tokens, or its error, into that of the caller's dialect. A class, because it is one handler object per answer. */
export class CountAnswer implements EgressHandler {
  readonly #options: CountAnswerOptions
  readonly #held = new ByteList()
  #status = 0
  #rawHeaders: readonly string[] = []
  #isOver = false

  constructor(options: CountAnswerOptions) {
    this.#options = options
  }

  onHeaders(status: number, rawHeaders: readonly string[]): void {
    this.#status = status
    this.#rawHeaders = rawHeaders
  }

  onData(chunk: Buffer): void {
    if (this.#isOver) return
    this.#held.push(chunk)
    if (this.#held.size > this.#options.maxHeldBytes) this.onError(new ApiError('upstream_bad_response', tooLong))
  }

  onEnd(): void {
    if (this.#isOver) return
    const { from, to } = this.#options
    const text = this.#text()
    const json = jsonOrUndefined(text)
    if (this.#status > 299) return this.#fail(json ?? text)
    const tokens = readCount(from, json)
    if (tokens === null) this.onError(new ApiError('upstream_bad_response', 'The answer of the provider is no count of tokens.'))
    else this.#answer(this.#status, countClients[to]?.answer(tokens, false) ?? {})
  }

  #text(): string {
    const encoding = headerValue(this.#rawHeaders, 'content-encoding')?.toLowerCase() ?? 'identity'
    const bytes = this.#held.join()
    return (encoding === 'identity' ? bytes : decompress(bytes, encoding)).toString('utf8')
  }

  #fail(body: unknown): void {
    const { from, to, requestId } = this.#options
    const [provider, client] = [providerCodecOf(from), clientCodecOf(to)]
    if (provider === null || client === null) return this.#answer(this.#status, {})
    const error = inClientWords(provider.error.decode(this.#status, body), provider.error.fields, client.names)
    this.#answer(error.status, client.error.encode(error, requestId))
  }

  onError(error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.inner.onError(error)
  }

  #answer(status: number, body: object): void {
    this.#isOver = true
    const { inner } = this.#options
    const bytes = Buffer.from(JSON.stringify(body))
    const headers = headersWithout(headersFor(this.#rawHeaders, bytes.length), (name) => name === 'content-type')
    inner.onHeaders(status, [...headers, 'content-type', 'application/json'], '')
    inner.onData(bytes)
    inner.onEnd([])
  }
}

const tooLong = 'The provider answered a question for a count with too many bytes.'
