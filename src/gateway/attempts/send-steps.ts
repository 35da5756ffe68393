import { ByteList } from '../../lib/collections/byte-list.ts'
import { ApiError, toApiError } from '../../lib/errors.ts'
import { tooLarge } from '../answers/cut-short.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { lastEvent, type NextStep, type Steps } from '../dialects/steps.ts'
import type { EgressCall, EgressHandler } from '../egress/egress.ts'
import { decompress } from '../wire/encoding.ts'
import { headerValue, type HeaderList } from '../wire/header-list.ts'
import { prepare, type SendRequest } from '../outgoing/prepare.ts'
import type { PreparedRequest } from '../outgoing/prepared.ts'

export interface SteppedCall {
  readonly steps: Steps
  readonly request: SendRequest
  /** The first call, which is ready. */
  readonly prepared: PreparedRequest
  readonly handler: EgressHandler
  /** So much of an answer that leads on is held. */
  readonly maxHeldBytes: number
}

interface Head {
  readonly status: number
  readonly rawHeaders: HeaderList
  readonly message: string
}

const noHead: Head = { status: 0, rawHeaders: [], message: '' }

/** Makes a call whose answer is reached in several steps: a job that is asked for until it has ended, a stream at another address. */
export function sendInSteps(call: SteppedCall): EgressCall {
  const made = new StepwiseCall(call)
  made.begin()
  return made
}

/** A class, because it is a state machine. */
class StepwiseCall implements EgressCall {
  readonly #made: SteppedCall
  readonly #deadlineAt: number
  #call: EgressCall | null = null
  #timer: NodeJS.Timeout | null = null
  #step = 0
  /** The latest answer about the work. */
  #work: Fields | null = null
  #isPaused = false
  /** No caller waits for the answer. */
  #isLeft = false
  #isOver = false

  constructor(made: SteppedCall) {
    this.#made = made
    this.#deadlineAt = performance.now() + made.request.timeouts.firstByteMs
  }

  begin(): void {
    this.#send(this.#made.prepared)
  }

  /** Work whose name is still unknown is ended as soon as its name arrives. */
  abort(): void {
    if (this.#isOver || this.#isLeft) return
    this.#isLeft = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    if (this.#work === null) return
    this.#call?.abort()
    this.#end()
  }

  pause(): void {
    this.#isPaused = true
    this.#call?.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#call?.resume()
  }

  #send({ origin, request }: PreparedRequest): void {
    this.#call = origin.send(request, this.#listener())
    if (this.#isPaused && !this.#isOver) this.#call.pause()
  }

  /** JSON that leads on is held; all else is the answer, and goes on as it comes. */
  #listener(): EgressHandler {
    const held = new ByteList()
    let head = noHead
    let passes = false
    const { handler, maxHeldBytes } = this.#made
    return {
      onHeaders: (status, rawHeaders, message) => {
        head = { status, rawHeaders, message }
        passes = !leadsOn(head)
        if (passes && !this.#isLeft) handler.onHeaders(status, rawHeaders, message)
      },
      onData: (chunk) => {
        if (passes) return this.#isLeft ? undefined : handler.onData(chunk)
        held.push(chunk)
        if (held.size > maxHeldBytes) this.#fail(tooLarge(maxHeldBytes))
      },
      onEnd: (trailers) => {
        if (this.#isOver) return
        if (!passes) return this.#try(() => this.#take(head, held.join()))
        if (isStream(head) && !this.#isLeft) return this.#tellLast()
        this.#isOver = true
        if (!this.#isLeft) handler.onEnd(trailers)
      },
      onError: (error) => this.#fail(error),
    }
  }

  #take(head: Head, bytes: Buffer): void {
    const encoding = headerValue(head.rawHeaders, 'content-encoding')?.toLowerCase() ?? 'identity'
    const json = jsonOrUndefined((encoding === 'identity' ? bytes : decompress(bytes, encoding)).toString('utf8'))
    if (!isFields(json)) return this.#answer(head, bytes)
    this.#work = json
    if (this.#isLeft) return this.#end()
    const next = this.#made.steps.next(json, this.#step)
    if (next === null) return this.#answer(head, bytes)
    this.#step += 1
    if (performance.now() + next.afterMs > this.#deadlineAt)
      return this.#fail(new ApiError('upstream_timeout', 'The provider did not end its work in time.'))
    if (next.afterMs === 0) return this.#follow(next)
    this.#timer = setTimeout(() => this.#try(() => this.#follow(next)), next.afterMs)
  }

  #answer({ status, rawHeaders, message }: Head, bytes: Buffer): void {
    const { handler } = this.#made
    this.#isOver = true
    // That the work was created is no part of the answer.
    const isCreated = status === 201 || status === 202
    handler.onHeaders(isCreated ? 200 : status, rawHeaders, isCreated ? '' : message)
    handler.onData(bytes)
    handler.onEnd([])
  }

  #follow(step: NextStep): void {
    this.#later(this.#prepare(step), (prepared) => this.#send(prepared))
  }

  #later<T>(made: T | Promise<T>, act: (value: T) => void): void {
    if (!(made instanceof Promise)) return act(made)
    made
      .then((value) => (this.#isOver || this.#isLeft ? undefined : this.#try(() => act(value))))
      .catch((thrown: unknown) => this.#fail(toApiError(thrown)))
  }

  #prepare({ at, accept }: NextStep): PreparedRequest | Promise<PreparedRequest> {
    const forward = ['accept', accept, 'accept-encoding', 'identity']
    return 'path' in at ? this.#withCredential('GET', at.path, forward) : this.#elsewhere(at.url, forward)
  }

  #withCredential(method: 'GET' | 'POST', path: string, forward: HeaderList): PreparedRequest | Promise<PreparedRequest> {
    const body = { kind: 'none', bytes: null, json: undefined, stream: null, length: null } as const
    return prepare({ ...this.#made.request, method, body, forward, endpoint: { path, model: null } })
  }

  /** An address that the provider names, without the credential: a host of its own, through the guard. Throws `upstream_bad_response`. */
  #elsewhere(text: string, headers: HeaderList): PreparedRequest | Promise<PreparedRequest> {
    const { steps, prepared, request } = this.#made
    const url = URL.canParse(text) ? new URL(text) : null
    const isSame = url !== null && url.origin === prepared.origin.origin
    const isOwn = url !== null && url.protocol === 'https:' && url.port === '' && steps.hosts.test(url.hostname)
    if (url === null || !(isSame || isOwn) || url.username + url.password !== '')
      throw new ApiError('upstream_bad_response', 'The provider named an address that is none of its own.')
    const path = url.pathname + url.search
    const asked = { method: 'GET', path, headers, body: null, timeouts: request.timeouts }
    const to = (origin: PreparedRequest['origin']): PreparedRequest => ({ origin, url: url.origin + url.pathname, request: asked })
    if (isSame) return to(prepared.origin)
    const origin = request.egress.origin(url.origin, 'x-service-provider', 'by catalogue')
    return origin instanceof Promise ? origin.then(to) : to(origin)
  }

  /** Adds the facts at the end of a stream as its last event. Without them the stream ends as it is. */
  #tellLast(): void {
    const { steps, handler } = this.#made
    const step = this.#work === null ? null : steps.afterStream(this.#work)
    const close = (): void => {
      if (this.#isOver || this.#isLeft) return
      this.#isOver = true
      handler.onEnd([])
    }
    if (step === null) return close()
    const held = new ByteList()
    const ask = async (): Promise<void> => {
      const { origin, request } = await this.#prepare(step)
      if (this.#isLeft) return
      this.#call = origin.send(request, {
        onHeaders: () => {},
        onData: (chunk) => held.push(chunk),
        onEnd: () => {
          const json = jsonOrUndefined(held.join().toString('utf8'))
          if (isFields(json) && !this.#isLeft) handler.onData(Buffer.from(`\n\nevent: ${lastEvent}\ndata: ${JSON.stringify(json)}\n\n`))
          close()
        },
        onError: close,
      })
    }
    ask().catch(close)
  }

  /** Ends abandoned work at the provider. */
  #end(): void {
    this.#isOver = true
    const path = this.#work === null ? null : this.#made.steps.cancelPath(this.#work)
    if (path === null) return
    const end = async (): Promise<void> => {
      const { origin, request } = await this.#withCredential('POST', path, ['accept', 'application/json'])
      origin.send(request, { onHeaders: () => {}, onData: () => {}, onEnd: () => {}, onError: () => {} })
    }
    // It costs the provider's time alone if it cannot be ended.
    end().catch(() => {})
  }

  #fail(error: Error): void {
    if (this.#isOver) return
    const { handler } = this.#made
    const isLeft = this.#isLeft
    this.#call?.abort()
    this.#end()
    if (!isLeft) handler.onError(error)
  }

  #try(act: () => void): void {
    try {
      act()
    } catch (thrown) {
      this.#fail(toApiError(thrown))
    }
  }
}

const isSuccess = ({ status }: Head): boolean => status >= 200 && status <= 299
const typeOf = ({ rawHeaders }: Head): string => headerValue(rawHeaders, 'content-type')?.toLowerCase() ?? ''
const leadsOn = (head: Head): boolean => isSuccess(head) && typeOf(head).startsWith('application/json')
const isStream = (head: Head): boolean => isSuccess(head) && typeOf(head).startsWith('text/event-stream')
