import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { Example } from './example.ts'

type Json = Readonly<Record<string, unknown>>

/** The provider that the first steps store. */
const firstProvider = '@openai-prod'

/** A model that answers an operation of another vendor's format once the first steps are done. */
const firstModels: Readonly<Record<string, string>> = { 'POST /messages': `${firstProvider}/gpt-4o-mini` }

/**
 * Returns an example of the data plane as it works once the first steps are done: its target is in the model where the body has one, else in
 * a header. Examples of the story that a test runs have headers of that story.
 */
export function onFreshInstallation(shown: Example): Example {
  const { headers, body, operation } = shown
  if (headers === undefined) return shown
  const named = headers['x-service-provider']
  const provider = typeof named === 'string' && named.startsWith('@') ? named : firstProvider
  if (!isFields(body) || typeof body['model'] !== 'string') return { ...shown, headers: { 'x-service-provider': provider } }
  return { ...shown, headers: undefined, body: withModel(body, firstModels[operation] ?? `${provider}/${body['model']}`) }
}

const withModel = (body: Fields, model: string): Fields => ({ ...body, model })

/** Returns true for a parameter whose example is sent unless the reader changes it, and so has to be right everywhere. */
const isSentAsShown = (parameter: Json, ofGateway: boolean): boolean =>
  ofGateway ? parameter['in'] === 'header' : parameter['required'] === true

/**
 * Returns a parameter with its example: in its field where a page that tries the operation may send it as it is, else in the words of the
 * description, since ids, times and filters of another installation match no row here.
 */
export function withParameterExample(parameter: Json, value: unknown, { ofGateway }: { readonly ofGateway: boolean }): Json {
  if (value === undefined) return parameter
  if (isSentAsShown(parameter, ofGateway)) return { ...parameter, example: value }
  const text = `For example \`${typeof value === 'string' ? value : JSON.stringify(value)}\`.`
  const { description } = parameter
  return { ...parameter, description: typeof description === 'string' && description !== '' ? `${description} ${text}` : text }
}
