import test from 'ava'
import { clientDialect, frontOf, pathBehind } from '../../../../src/gateway/operations/fronts.ts'

/** Path as the client asks for it, the provider's part of it, and whose dialect the client speaks. */
const rows = [
  ['/v1/chat/completions?x=1', '/chat/completions?x=1', 'openai-chat'],
  ['/v1/messages', '/messages', 'anthropic'],
  ['/v1/messages?beta=true', '/messages?beta=true', 'anthropic'],
  ['/v1/messages/batches', '/messages/batches', 'anthropic'],
  ['/v1/messagesx', '/messagesx', 'openai-chat'],
  ['/v1/responses/r_1', '/responses/r_1', 'openai-responses'],
  ['/v1/responsesx', '/responsesx', 'openai-chat'],
  ['/v1beta/models/g:generateContent', '/v1beta/models/g:generateContent', 'google'],
] as const

for (const [url, path, dialect] of rows)
  test(`a front: ${url}`, (t) => {
    t.is(pathBehind(url), path)
    t.is(clientDialect({ url, header: () => undefined }), dialect)
  })

const header = (name: string) => (name === 'anthropic-version' ? '2023-06-01' : undefined)

test('a client of the Anthropic libraries is answered in its words on all of our paths, and on none of Google', (t) => {
  t.is(clientDialect({ url: '/v1/chat/completions', header }), 'anthropic')
  t.is(clientDialect({ url: '/v1beta/models', header }), 'google')
})

for (const url of ['/', '/v1', '/v2/chat', '/v1betax/models', '/docs', '/V1/models'])
  test(`no front: ${url}`, (t) => t.is(frontOf(url), null))
