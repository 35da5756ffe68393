import { connect } from 'node:net'

/** The bytes that came back over one connection. */
export interface WireAnswer {
  readonly text: string
  readonly answers: readonly { readonly status: number; readonly head: string; readonly body: string }[]
  /** True when the server ended the connection; false when it was still open after the quiet time. */
  readonly closed: boolean
  readonly ms: number
}

export interface WireOptions {
  /** How long the connection may be silent, after its first bytes, until the exchange counts as over. */
  readonly quietMs?: number
  /** The longest wait for a first byte or for the end. */
  readonly withinMs?: number
}

/** Writes bytes (latin1) to the server at `origin` and reads until it ends the connection or falls silent after its answer. */
export function speak(origin: string, bytes: string, { quietMs = 300, withinMs = 10_000 }: WireOptions = {}): Promise<WireAnswer> {
  const { hostname, port } = new URL(origin)
  return new Promise((resolve) => {
    const from = performance.now()
    const chunks: Buffer[] = []
    const socket = connect(Number(port), hostname, () => socket.write(bytes, 'latin1'))
    let timer = setTimeout(() => done(false), withinMs)
    const done = (closed: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      const text = Buffer.concat(chunks).toString('latin1')
      resolve({ text, answers: parse(text), closed, ms: performance.now() - from })
    }
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      clearTimeout(timer)
      timer = setTimeout(() => done(false), quietMs)
    })
    socket.on('error', () => done(true))
    socket.on('close', () => done(true))
  })
}

/** Cuts a stream of answers that all have a content-length, or none and an empty body. */
function parse(text: string): WireAnswer['answers'] {
  const answers = []
  let rest = text
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n')
    const head = end === -1 ? rest : rest.slice(0, end)
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
    const body = end === -1 ? '' : rest.slice(end + 4, end + 4 + length)
    answers.push({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), head, body })
    rest = end === -1 ? '' : rest.slice(end + 4 + length)
  }
  return answers
}
