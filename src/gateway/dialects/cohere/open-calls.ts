import type { CallDecoder } from './call-decode.ts'

/** The calls whose arguments are not whole, each found in constant time: one answer may have thousands. A class, because it keeps its indexes. */
export class OpenCalls {
  #all: CallDecoder[] = []
  readonly #byIndex = new Map<unknown, CallDecoder[]>()

  add(call: CallDecoder): void {
    last(this.#all)
    this.#all.push(call)
    const known = this.#byIndex.get(call.index)
    if (known === undefined) this.#byIndex.set(call.index, [call])
    else known.push(call)
  }

  /** A piece without a number is of the last call. */
  at(index: unknown): CallDecoder | undefined {
    return last(index === undefined ? this.#all : (this.#byIndex.get(index) ?? []))
  }

  /** Ends them all. */
  end(): void {
    for (const call of this.#all) call.end()
    this.#all = []
    this.#byIndex.clear()
  }
}

/** Returns the last call that is open; those behind it are forgotten. */
function last(calls: CallDecoder[]): CallDecoder | undefined {
  while (calls.at(-1)?.isOver === true) calls.pop()
  return calls.at(-1)
}
