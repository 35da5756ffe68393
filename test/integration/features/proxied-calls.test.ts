import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { startApp } from '../../support/app.ts'
import { startForwardProxy } from '../../support/forward-proxy.ts'
import { send } from '../../support/http.ts'

/** A host of every kind at once: it takes objects and spans, and answers as a model. */
async function startHost() {
  const completion = {
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }
  const server = createServer((incoming, outgoing) => {
    incoming.resume().on('end', () => outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(completion)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { port: (server.address() as AddressInfo).port, close }
}

test('providers, the log store and the receiver of traces are reached by the proxy, which alone knows their names', async (t) => {
  const [host, proxy] = await Promise.all([startHost(), startForwardProxy({ credentials: 'me:secret' })])
  const at = (name: string) => `http://${name}.proxied.test:${host.port}`
  const app = await startApp({
    env: {
      HTTP_PROXY: proxy.url.replace('://', '://me:secret@'),
      PROXY_NAMES: 'unchecked',
      TRUSTED_CUSTOM_HOSTS: '*.proxied.test',
      OTEL_EXPORTER_OTLP_ENDPOINT: at('traces'),
      LOG_STORE: 's3_custom',
      LOG_STORE_BASEPATH: at('store'),
      LOG_STORE_REGION: 'eu-central-1',
      LOG_STORE_ACCESS_KEY: 'AKIAIOSFODNN7EXAMPLE',
      LOG_STORE_SECRET_KEY: 'a secret key',
      LOG_STORE_GENERATIONS_BUCKET: 'logs',
    },
  })
  t.teardown(async () => {
    await app.stop()
    host.close()
    await proxy.close()
  })
  const { status, text } = await send(`${app.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': app.workspaceKey,
      'x-service-provider': 'openai',
      'x-service-custom-host': at('model'),
      authorization: 'Bearer x',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  t.is(status, 200, text)
  const reached = () => new Set(proxy.asked.map((line) => /\/\/(\w+)\.proxied/.exec(line)?.[1]))
  await eventually(() => ['model', 'store', 'traces'].every((name) => reached().has(name)), 30_000, 'all hosts').catch(() =>
    t.fail([...proxy.asked, ...app.logged.map((line) => JSON.stringify(line))].join('\n')),
  )
  t.false(JSON.stringify(app.logged).includes('me:secret'))
})
