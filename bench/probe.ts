import { connect } from 'node:net'
import { join } from 'node:path'
import type { z } from 'zod'

/** Looks into a process from outside. */
export interface Probe {
  /** The arguments of Node. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  ask<T>(question: { readonly do: string; readonly folder?: string }, answer: z.ZodType<T>): Promise<T>
}

let made = 0

/** For one process; `test/support/memory-probe.mjs` answers in it. */
export function makeProbe(): Probe {
  const socket = `/tmp/gatehouse-memory-${process.pid}-${(made += 1)}.sock`
  return {
    args: ['--import', join(import.meta.dirname, '../test/support/memory-probe.mjs')],
    env: { MEMORY_PROBE: socket },
    ask: async (question, answer) => answer.parse(await send(socket, question)),
  }
}

function send(path: string, question: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    let answer = ''
    socket.setEncoding('utf8')
    socket.on('data', (text) => (answer += text))
    socket.on('end', () => resolve(JSON.parse(answer)))
    socket.on('error', reject)
    socket.write(JSON.stringify(question))
  })
}
