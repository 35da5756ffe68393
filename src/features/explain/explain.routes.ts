import { route } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { explainBody, explanation } from './explain.schema.ts'

export const explainRequest = route({
  method: 'POST',
  path: '/explain',
  summary: 'Tell what would become of a request to the data plane, without calling a provider',
  permission: 'configs.read',
  resource: 'explanation',
  reads: true,
  body: explainBody,
  response: explanation,
})(async ({ body: { method, path, headers, body }, send }) => {
  const json = body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }
  const own = [...(body === undefined ? [] : ['content-type', 'application/json']), 'x-service-explain', 'true']
  const given = Object.entries(headers).filter(([name]) => !own.includes(name.toLowerCase()))
  const answer = await send({ method, path, headers: [...given.flat(), ...own], ...json })
  const text = answer.body.toString()
  if (answer.status === 200) return explanation.parse(JSON.parse(text))
  throw refusal(answer.status, text)
})

/** The data plane refuses the request itself: the caller is told why, as a fault of what it asked to have explained. */
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
