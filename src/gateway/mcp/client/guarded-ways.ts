import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { McpFault, toldCode, toldFault } from '../protocol/faults.ts'
import { type RpcCall, rpcCodes, type RpcError } from '../protocol/messages.ts'
import type { QuestionResults, UpstreamRequest } from '../upstream/upstream-request.ts'
import { progressNumbers } from './protocol-words.ts'

/** Returns fields as the guardrails of a phase leave them. Throws when one denies them. */
export type Judge = (phase: 'input' | 'output', json: Fields) => Promise<Fields>

/** A question of the server is judged as its results are, and the answer of the client as its arguments. */
export const askGuarded =
  (ask: NonNullable<UpstreamRequest['ask']>, judge: Judge): UpstreamRequest['ask'] =>
  async (questions) => {
    const asked: Record<string, RpcCall> = {}
    for (const [name, { method, params }] of Object.entries(questions)) asked[name] = { method, params: await judge('output', params) }
    const answers: Record<string, Fields> = {}
    for (const [name, given] of Object.entries(await answersOf(ask(asked), judge))) {
      const { result } = await judge('input', { result: given })
      answers[name] = isFields(result) ? result : {}
    }
    return answers
  }

/** The error of a client goes to the server, too. */
async function answersOf(answering: Promise<QuestionResults>, judge: Judge): Promise<QuestionResults> {
  try {
    return await answering
  } catch (thrown) {
    if (thrown instanceof McpFault && thrown.code === toldCode) throw toldFault(await judgeError('input', thrown.error, judge))
    throw thrown
  }
}

/** Judges all texts of an error. */
export async function judgeError(phase: 'input' | 'output', { code, message, data }: RpcError, judge: Judge): Promise<RpcError> {
  const said = await judge(phase, { message, ...(data !== undefined && { data }) })
  return { code: Math.abs(code) > longestCode ? rpcCodes.internal : code, ...said, message: String(said['message']) }
}

/** Codes of errors are shorter; a longer number may be of anything. */
const longestCode = 99_999

interface Telling {
  readonly progressToken: unknown
  readonly isHeld: boolean
  readonly notify: UpstreamRequest['notify']
}

/** While a result is held, its words must not come in another way: progress goes on as numbers, and all else ends here. */
export function tell(told: RpcCall, { progressToken, isHeld, notify }: Telling): void {
  const { method, params } = told
  const isProgress = method === 'notifications/progress'
  if (!isProgress) return isHeld ? undefined : notify(told)
  if (progressToken !== undefined)
    notify({ method, params: isHeld ? progressNumbers(params, progressToken) : { ...params, progressToken } })
}
