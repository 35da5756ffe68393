import OpenAI, { AzureOpenAI } from 'openai'
import { json, sse } from '../../support/dialects/strict.ts'
import type { Received } from '../../support/emulator/emulator.ts'
import type { Address, ProviderSide, Talker } from '../talk.ts'
import { chatProvider, chatTalkerOf } from './openai-chat.ts'
import { responsesProvider } from './openai-responses.ts'

const version = '2024-10-21'
const chats = /^\/openai\/deployments\/[^/]+\/chat\/completions\?api-version=([\w-]+)$/
const responses = /^\/openai\/v1\/responses(?:\?|$)/

const sideOf = ({ url }: Received): ProviderSide => (responses.test(url) ? responsesProvider : chatProvider)

/** The results of Azure's filters stand before and beside the content. */
const filtered = { prompt_filter_results: [{ prompt_index: 0, content_filter_results: { hate: { filtered: false, severity: 'safe' } } }] }
const first = [null, { id: '', object: '', created: 0, model: '', choices: [], ...filtered }] as const

/** Azure OpenAI: chats by deployments and dates, responses at its `v1`, both behind the header `api-key`. */
export const azureOpenaiProvider: ProviderSide = {
  isStream: (received) => sideOf(received).isStream(received),
  refusal(received) {
    if (received.headers['api-key'] === undefined) return 'Access denied due to missing subscription key.'
    if (responses.test(received.url)) return responsesProvider.refusal({ ...received, url: '/v1/responses' })
    if (chats.exec(received.url)?.[1] !== version) return `Resource not found: ${received.url}`
    return chatProvider.refusal({ ...received, url: '/v1/chat/completions' })
  },
  heard: (received) => sideOf(received).heard(received),
  whole(say, received) {
    const answer = sideOf(received).whole(say, received)
    if (responses.test(received.url)) return answer
    return json({ ...(JSON.parse(answer.body ?? '') as object), ...filtered })
  },
  stream(say, received) {
    const answer = sideOf(received).stream(say, received)
    return responses.test(received.url) ? answer : { ...answer, body: `${sse([first]).body}${answer.body}` }
  },
  error: (_, message) => ({ error: { message, type: null, param: null, code: 'some_code', innererror: null } }),
}

/** OpenAI's own client for Azure, which proves its emulator. */
export const azureOpenaiTalker = (address: Address): Talker => {
  const { origin, key, model } = address
  const client = new AzureOpenAI({ baseURL: `${origin}/openai/deployments/${model}`, apiKey: key, apiVersion: version, maxRetries: 0 })
  return chatTalkerOf(client, address)
}

const v1Chats = /^\/openai\/v1\/chat\/completions$/

/** Azure OpenAI by its `v1`, which names the deployment in the body and needs no date. */
export const azureV1Provider: ProviderSide = {
  ...azureOpenaiProvider,
  refusal(received) {
    if (!v1Chats.test(received.url)) return azureOpenaiProvider.refusal(received)
    const { authorization, 'api-key': key } = received.headers
    if (key === undefined && authorization === undefined) return 'Access denied due to missing subscription key.'
    return chatProvider.refusal({ ...received, url: '/v1/chat/completions' })
  },
}

/** OpenAI's own client at the address of a resource, as learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle has it. */
export const azureV1Talker = (address: Address): Talker =>
  chatTalkerOf(new OpenAI({ baseURL: `${address.origin}/openai/v1`, apiKey: address.key, maxRetries: 0 }), address)
