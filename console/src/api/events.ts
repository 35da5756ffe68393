import { rootPath } from './client.ts'

/** An event of the server. */
export interface ServerEvent {
  readonly type: string
  readonly data: unknown
}

interface Listening {
  readonly query: Readonly<Record<string, string>>
  readonly workspace: string | undefined
  readonly signal: AbortSignal
  readonly onEvent: (event: ServerEvent) => void
  /** True while the stream is open. */
  readonly onState: (open: boolean) => void
}

const [soonestMs, latestMs] = [1_000, 30_000]

/** Listens to events until it is aborted; a stream that breaks is opened again after a pause that grows. */
export async function listen({ query, workspace, signal, onEvent, onState }: Listening): Promise<void> {
  let [lastId, pauseMs] = ['', soonestMs]
  while (!signal.aborted) {
    try {
      const headers = {
        ...(workspace !== undefined && { 'x-service-workspace': workspace }),
        ...(lastId !== '' && { 'last-event-id': lastId }),
      }
      const answer = await fetch(`${rootPath}/v1/events?${new URLSearchParams(query).toString()}`, { headers, signal })
      if (!answer.ok || answer.body === null) throw new Error(`The answer was ${answer.status}.`)
      onState(true)
      pauseMs = soonestMs
      await readEvents(answer.body, (event, id) => {
        lastId = id ?? lastId
        onEvent(event)
      })
    } catch {
      if (signal.aborted) return
    }
    onState(false)
    await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random() / 2)))
    pauseMs = Math.min(latestMs, pauseMs * 2)
  }
}

/** Reads server-sent events to the end of a stream. */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  onEvent: (event: ServerEvent, id: string | null) => void,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const blocks = (rest + value).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trimStart()]),
      )
      const data = fields.get('data')
      if (data !== undefined) onEvent({ type: fields.get('event') ?? 'message', data: JSON.parse(data) }, fields.get('id') ?? null)
    }
  }
}
