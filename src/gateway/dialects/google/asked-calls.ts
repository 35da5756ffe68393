interface AskedCall {
  readonly id: string
  readonly name: string
}

/** Calls of one id or name in their order, of which the first so many are answered. */
interface Queue {
  readonly calls: AskedCall[]
  next: number
}

/** The calls of the last turn of the model that have no result yet, each found in constant time. */
export class AskedCalls {
  #byId = new Map<string, Queue>()
  #byName = new Map<string, Queue>()
  readonly #answered = new Set<AskedCall>()

  add(call: AskedCall): void {
    for (const [queues, key] of [
      [this.#byId, call.id],
      [this.#byName, call.name],
    ] as const) {
      const queue = queues.get(key)
      if (queue === undefined) queues.set(key, { calls: [call], next: 0 })
      else queue.calls.push(call)
    }
  }

  /** Takes the first call with this id, or with this name where the result has no id; undefined: there is none. */
  take(id: string | null, name: string): AskedCall | undefined {
    const queue = id === null ? this.#byName.get(name) : this.#byId.get(id)
    if (queue === undefined) return undefined
    for (let call = queue.calls[queue.next]; call !== undefined; call = queue.calls[queue.next]) {
      queue.next += 1
      if (this.#answered.has(call)) continue
      this.#answered.add(call)
      return call
    }
    return undefined
  }

  /** The model speaks again: calls of the turn before get no result any more. */
  clear(): void {
    this.#byId = new Map()
    this.#byName = new Map()
    this.#answered.clear()
  }
}
