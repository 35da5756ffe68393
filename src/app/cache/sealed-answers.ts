import { z } from 'zod'
import type { AnswerScope, CachedAnswer } from '../../gateway/ports/cache.ts'
import type { LogSeal } from '../../gateway/ports/journal.ts'

const head = z.object({ status: z.number(), rawHeaders: z.array(z.string()), stream: z.boolean(), requestId: z.string() })
type Head = z.output<typeof head>

const headLength = 4

/** The place to which a sealed answer is bound. No log has such an id. */
const placeOf = (key: string, { organisationId }: AnswerScope) => ({ id: `answer ${key}`, organisationId, createdAt: 0 })

/** Returns head and body of an answer as one sealed value. */
export function sealAnswer(seal: LogSeal, key: string, { scope, answer }: { scope: AnswerScope; answer: CachedAnswer }): Buffer {
  const text = Buffer.from(JSON.stringify(head.parse(answer)))
  const length = Buffer.alloc(headLength)
  length.writeUInt32BE(text.length)
  return Buffer.concat(seal.seal(placeOf(key, scope), [length, text, answer.body]))
}

/** Opens a result of `sealAnswer`. Throws a SealError when it belongs to another key or organisation. */
export function openAnswer(seal: LogSeal, key: string, { scope, sealed }: { scope: AnswerScope; sealed: Buffer }): Head & { body: Buffer } {
  const opened = seal.open(placeOf(key, scope), sealed)
  const end = headLength + opened.readUInt32BE(0)
  return { ...head.parse(JSON.parse(opened.toString('utf8', headLength, end))), body: opened.subarray(end) }
}
