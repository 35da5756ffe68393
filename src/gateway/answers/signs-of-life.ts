/** A stream that waits for its first content is given so long after its head at least: content may stand right behind it. */
const leastMs = 100

export interface LifeActs {
  /** Sends the head, and the held bytes. */
  readonly open: () => void
  /** Sends a sign of life. */
  readonly sign: () => void
}

/**
 * Opens a stream that has been silent for so long, and sends a sign of life after each further wait, since proxies end idle connections. A class,
 * because it keeps its timer.
 */
export class SignsOfLife {
  readonly #afterMs: number | null
  readonly #acts: LifeActs
  readonly #begunAt = performance.now()
  #timer: NodeJS.Timeout | null = null
  #openedMs: number | null = null

  /** `afterMs`: the longest wait; null: any. */
  constructor(afterMs: number | null, acts: LifeActs) {
    this.#afterMs = afterMs
    this.#acts = acts
  }

  /** Milliseconds after which the stream was opened without content; null: it was not. */
  get openedMs(): number | null {
    return this.#openedMs
  }

  /** True while content is awaited. */
  get isWaiting(): boolean {
    return this.#timer !== null
  }

  /** Begins to wait: the provider has begun a stream. */
  await(): void {
    if (this.#afterMs === null || this.#timer !== null) return
    this.#timer = setTimeout(this.#open, Math.max(leastMs, this.#afterMs - (performance.now() - this.#begunAt)))
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  readonly #open = (): void => {
    this.#openedMs = Math.round(performance.now() - this.#begunAt)
    this.#timer = setInterval(this.#acts.sign, this.#afterMs ?? leastMs)
    this.#acts.open()
    this.#acts.sign()
  }
}
