import type { z } from 'zod'
import { type DataPlaneCall, route } from '../../app/route.ts'
import { headersWithout } from '../../gateway/ports/headers.ts'
import { ApiError } from '../../lib/errors.ts'
import { explainBody, explanation } from './explain.schema.ts'
import { presentPast, readLoggedRequest } from './logged-request.ts'

export const explainRequest = route({
  method: 'POST',
  path: '/explain',
  summary: 'Explain a request to the data plane, without calling a provider',
  permission: 'configs.read',
  resource: 'explanation',
  effect: 'none',
  // The data plane, which makes the plan, requires a key, even of a signed-in person.
  callers: ['key'],
  body: explainBody,
  response: explanation,
})(async ({ body: asked, send, em, actor, deps }) => {
  const { log_id: logId, headers: given } = asked
  const logged = logId === undefined ? null : await readLoggedRequest(logId, given, { em, actor, deps, use })
  const { call, log } = logged ?? { call: callOf(asked), log: null }
  const own = [...(call.body === undefined ? [] : ['content-type', 'application/json']), 'x-service-explain', 'true']
  const answer = await send({ ...call, headers: [...headersWithout(call.headers, (name) => own.includes(name)), ...own] })
  const text = answer.body.toString()
  if (answer.status !== 200) throw refusal(answer.status, text)
  const explained = explanation.parse(JSON.parse(text))
  return log === null ? explained : { ...explained, logged: presentPast(log) }
})

const use = {
  participle: 'explained',
  param: 'log_id',
  advice: 'Send the request itself with x-service-explain: true.',
} as const

const callOf = ({ method = 'POST', path = '', headers, body }: z.output<typeof explainBody>): DataPlaneCall => ({
  method,
  path,
  headers: Object.entries(headers).flat(),
  ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
})

/** The data plane refuses the request itself: the caller gets the reason, as a fault of the request to be explained. */
function refusal(status: number, text: string): ApiError {
  const { message, param } = toError(text)
  if (status >= 500) return new ApiError('dependency_unavailable', message)
  return new ApiError('AB01', `The request would be refused: ${message}`, { param: param ?? 'path' })
}

function toError(text: string): { readonly message: string; readonly param: string | null } {
  const parsed: unknown = JSON.parse(text)
  const error: unknown = Reflect.get(Object(parsed), 'error')
  const [message, param] = [Reflect.get(Object(error), 'message'), Reflect.get(Object(error), 'param')] as unknown[]
  return { message: typeof message === 'string' ? message : text.slice(0, 200), param: typeof param === 'string' ? param : null }
}
