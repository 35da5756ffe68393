import { Worker } from 'node:worker_threads'
import type { MountOptions } from '../level/mount.ts'

/** The facts that the API description depends on. */
export interface DescriptionFacts {
  readonly config: MountOptions['config']
  readonly level: string
  /** The flags that are OFF; null: none. */
  readonly off: ReadonlySet<string> | null
  readonly publicUrl: string | null
}

export interface DescriptionOrder extends DescriptionFacts {
  readonly id: number
}

export type DescriptionAnswer = { readonly id: number } & ({ readonly text: string } | { readonly fault: string })

interface Thread {
  readonly worker: Worker
  readonly waiting: Map<number, PromiseWithResolvers<string>>
  /** Ends the thread when it has nothing to do for a while. */
  readonly end: NodeJS.Timeout
}

const resourceLimits = { maxOldGenerationSizeMb: 256 }
const idleMs = 5000
const entry = new URL(import.meta.url.endsWith('.ts') ? '../../description-worker.ts' : './description-worker.js', import.meta.url)

let thread: Thread | null = null
let orders = 0

/**
 * Resolves to the API description, as JSON. It is written in a thread of its own: it takes half a second and tens of megabytes, which no other request
 * should wait for, and after which the collector of a small heap would clear up for minutes. Rejects when the thread fails; the next call starts anew.
 */
export function describeApi({ config: { flags, version, releaseLevel }, level, off, publicUrl }: DescriptionFacts): Promise<string> {
  thread ??= start()
  const order: DescriptionOrder = { id: (orders += 1), config: { flags, version, releaseLevel }, level, off, publicUrl }
  const answer = Promise.withResolvers<string>()
  thread.waiting.set(order.id, answer)
  thread.worker.ref()
  thread.worker.postMessage(order)
  return answer.promise
}

function start(): Thread {
  const worker = new Worker(entry, { env: {}, resourceLimits, name: 'API description' })
  const own: Thread = { worker, waiting: new Map(), end: setTimeout(() => own.waiting.size === 0 && void stop(own), idleMs).unref() }
  worker.on('message', (answer: DescriptionAnswer) => {
    const waiting = own.waiting.get(answer.id)
    own.waiting.delete(answer.id)
    if (own.waiting.size === 0) worker.unref()
    own.end.refresh()
    if ('text' in answer) waiting?.resolve(answer.text)
    else waiting?.reject(new Error(`The API description cannot be written: ${answer.fault}`))
  })
  worker.on('error', (error) => fail(own, error))
  worker.on('exit', () => fail(own, new Error('The thread of the API description ended.')))
  return own
}

function stop(own: Thread): Promise<number> {
  if (thread === own) thread = null
  return own.worker.terminate()
}

function fail(own: Thread, error: Error): void {
  if (thread === own) thread = null
  clearTimeout(own.end)
  for (const { reject } of own.waiting.values()) reject(error)
  own.waiting.clear()
}
