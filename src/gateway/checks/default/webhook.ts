import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { headerValue, sentHeaderName } from '../../../lib/text/header-fields.ts'
import { hideWithin, hidingSecrets } from '../../../lib/text/known-secrets.ts'
import { isCredentialHeader } from '../../wire/headers.ts'
import { check, textOf, type BodyEdit, type CheckContext, type Subject, type Verdict } from '../check.ts'

const mostHeaders = 100

/** Names and values as an object, or as the JSON text that older clients write. */
export const headersField = z
  .preprocess((given) => (typeof given === 'string' && given.trim() !== '' ? parsed(given) : given), z.record(sentHeaderName, headerValue))
  .refine((headers) => Object.keys(headers).length <= mostHeaders, `At most ${mostHeaders} headers are allowed.`)
  .default({})
  .meta({ description: 'Headers that are sent along.' })

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The headers of a call with a JSON body, whose answer is read as it comes. */
export const jsonCall = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  'content-type': 'application/json',
  'accept-encoding': 'identity',
})

/** A URL that the gateway will call. */
export const calledUrl = z.url({ protocol: /^https?$/ }).max(2048)

/** Returns the facts about a request that a service gets. */
export const toldOf = (subject: Subject) => {
  const { request, response, phase } = subject
  const text = textOf(subject)
  return {
    request: { json: request.json ?? null, text: phase === 'input' ? text : '', isStreamingRequest: request.stream, isTransformed: false },
    response: {
      json: response?.json ?? null,
      text: phase === 'output' ? text : '',
      statusCode: response?.status ?? null,
      isTransformed: false,
    },
    provider: request.provider,
    requestType: request.operation,
    metadata: request.metadata,
    eventType: phase === 'input' ? 'beforeRequestHook' : 'afterRequestHook',
  }
}

/** The headers of the caller's that are named; credentials only where they may be passed on. */
const forwarded = (names: readonly string[], { request }: Subject, { passesCredentials }: CheckContext): Readonly<Record<string, string>> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = request.header(name.toLowerCase())
      return value === undefined || (!passesCredentials && isCredentialHeader(name.toLowerCase())) ? [] : [[name.toLowerCase(), value]]
    }),
  )

/** Asks a service of one's own. */
export const webhook = check({
  id: 'default.webhook',
  title: 'Webhook',
  about:
    'Posts the request or the answer to a URL and takes its verdict: `{ "verdict": boolean, "transformedData"?: { "request"|"response": { "json" } } }`.',
  timeoutMs: 3000,
  changes: true,
  reads: 'request',
  secrets: ['headers', 'secret'],
  urls: ['webhookURL'],
  passesOn({ forwardHeaders }) {
    const names = Array.isArray(forwardHeaders) ? forwardHeaders.map(String) : []
    const at = names.findIndex((name) => isCredentialHeader(name.toLowerCase()))
    return at === -1 ? null : { field: `forwardHeaders[${at}]`, what: `The header ${JSON.stringify(names[at])} may hold a credential` }
  },
  fields: {
    webhookURL: calledUrl.meta({ description: 'The URL.' }),
    headers: headersField,
    forwardHeaders: z.array(sentHeaderName).max(50).default([]).meta({
      description: "Headers of the caller's that are sent along; those that may hold a credential in a guardrail of the organisation only.",
    }),
    secret: z
      .string()
      .min(8)
      .max(1000)
      .optional()
      .meta({ description: 'Signs the call: `x-service-signature: t=<seconds>,v1=<hex HMAC-SHA256 of "seconds.body">`.' }),
  },
  ready({ webhookURL: url, headers, forwardHeaders, secret }) {
    const hide = hidingSecrets([...Object.values(headers), secret ?? '', ...secretsOfUrl(url)])
    return {
      judgesPrefix: true,
      async run(subject, context) {
        const body = JSON.stringify(toldOf(subject))
        const all = jsonCall({ ...headers, ...forwarded(forwardHeaders, subject, context), ...signature(body, secret, context) })
        const { status, text } = await context.egress.exchange({ url, method: 'POST', headers: all, body, timeoutMs: context.timeoutMs })
        if (status < 200 || status > 299) throw new Error(`The webhook answered ${status}.`)
        const { data, ...said } = answer.parse(JSON.parse(text))
        return toVerdict({ ...said, ...(data !== undefined && { data: hideWithin(data, hide) }) }, subject)
      },
    }
  },
})

/** The shortest segment of a path that is taken for a token; a shorter one is a word. */
const shortestToken = 20

/** The path or the query of many webhooks is their credential. */
function secretsOfUrl(url: string): readonly string[] {
  const { username, password, pathname, searchParams } = new URL(url)
  const segments = pathname.split('/').filter(({ length }) => length >= shortestToken)
  return [username, password, ...segments, ...searchParams.values()]
}

function signature(body: string, secret: string | undefined, { now }: CheckContext): Readonly<Record<string, string>> {
  if (secret === undefined) return {}
  const seconds = Math.floor(now() / 1000)
  return { 'x-service-signature': `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}` }
}

const changed = z.looseObject({ json: z.unknown().optional() }).nullish()
const answer = z.looseObject({
  verdict: z.boolean(),
  data: z.unknown().optional(),
  transformedData: z.looseObject({ request: changed, response: changed }).nullish(),
})

function toVerdict({ verdict: passed, data, transformedData }: z.output<typeof answer>, { phase }: Subject): Verdict {
  const json = (phase === 'input' ? transformedData?.request : transformedData?.response)?.json
  const edits: BodyEdit[] = json === undefined || json === null ? [] : [{ path: [], value: json }]
  return { passed, data: { explanation: `The webhook says ${passed ? 'yes' : 'no'}.`, ...(data !== undefined && { data }) }, edits }
}
