import test from 'ava'
import { clientCodecOf } from '../../src/gateway/dialects/codecs.ts'
import { known as ofMessages } from '../../src/gateway/dialects/anthropic/request-decode.ts'
import { known as ofCompletions } from '../../src/gateway/dialects/completions/request-decode.ts'
import { known as ofGoogle, knownConfig } from '../../src/gateway/dialects/google/request-decode.ts'
import { known as ofChat } from '../../src/gateway/dialects/openai-chat/request-decode.ts'
import { known as ofResponses } from '../../src/gateway/dialects/openai-responses/request-decode.ts'
import { fateOf, fieldClients } from './fields.ts'
import { isServed, providers } from './sides/index.ts'
import type { ClientId, ProviderId } from './talk.ts'

/** The outcome of each field of each client's format at each provider: the data of the guide's tables. */
const clients = Object.entries(fieldClients) as [ClientId, NonNullable<(typeof fieldClients)[ClientId]>][]
const ids = Object.keys(providers) as ProviderId[]

const read: Readonly<Partial<Record<ClientId, readonly string[]>>> = {
  'openai-chat': [...ofChat],
  'openai-responses': [...ofResponses],
  completions: [...ofCompletions],
  anthropic: [...ofMessages],
  google: [...ofGoogle, ...[...knownConfig].map((name) => `generationConfig.${name}`)],
}

/** The conversation itself, the model, and fields that only hold others. */
const itself = new Set(['model', 'messages', 'prompt', 'input', 'contents', 'text', 'output_config', 'generationConfig'])

for (const [client, { samples, dialect }] of clients)
  test(`${client}: every field that is read has a sample`, (t) => {
    // Completions share the names of chats, most of which they do not have.
    const named = client === 'completions' ? [] : Object.values(clientCodecOf(dialect)?.names ?? {})
    const wanted = new Set([...(read[client] ?? []), ...named].filter((name) => !itself.has(name)))
    t.deepEqual([...wanted].filter((name) => samples[name] === undefined).toSorted(), [])
  })

/** The fields that Gatehouse answers itself, for every provider, or that equal the default. */
const ours: Readonly<Partial<Record<ClientId, ReadonlySet<string>>>> = {
  'openai-chat': new Set(['metadata', 'store', 'stream_options']),
  'openai-responses': new Set(['metadata', 'store', 'truncation']),
  completions: new Set(['echo', 'stream_options']),
  google: new Set(['store', 'labels']),
}

for (const [client, { samples }] of clients)
  test(`${client}: no field is lost without a word`, (t) => {
    const silent = ids
      .filter((id) => isServed(client, id))
      .flatMap((id) =>
        Object.keys(samples)
          .filter((name) => fateOf(client, id, name) === 'answered here' && ours[client]?.has(name) !== true)
          .map((name) => `${name} at ${id}`),
      )
    t.deepEqual(silent, [])
  })
