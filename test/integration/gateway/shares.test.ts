import { randomUUID } from 'node:crypto'
import test from 'ava'
import { startGateway, workspaceKey } from '../../support/gateway.ts'
import { answering, httpAnswer, startRawServer } from '../../support/raw-server.ts'

const hostileKey = 'gh-test-key-of-a-hostile-tenant-00'

test('calls to more mute hosts than there are places leave another organisation all that it had', async (t) => {
  const mute = await startRawServer(() => {})
  const good = await startRawServer(answering(httpAnswer('{"ok":true}', 'content-type: application/json\r\n')))
  const bed = await startGateway({
    keys: { [hostileKey]: { organisationId: randomUUID(), workspaceId: randomUUID() } },
    trustedHosts: ['*.test'],
    resolve: async () => [{ address: '127.0.0.1' }],
  })
  const left = new AbortController()
  t.teardown(async () => {
    left.abort()
    await bed.stop()
    await Promise.all([mute.close(), good.close()])
  })
  const call = (key: string, host: string, signal?: AbortSignal) =>
    fetch(`${bed.origin}/v1/anything`, {
      ...(signal === undefined ? {} : { signal }),
      headers: {
        'x-service-api-key': key,
        'x-service-provider': 'openai',
        'x-service-custom-host': `http://${host}`,
        authorization: 'Bearer sk-own',
      },
    })
  t.is((await call(workspaceKey, `used.test:${good.port}`)).status, 200)
  const refused = Promise.withResolvers<Response>()
  for (let at = 0; at < 520; at += 1)
    call(hostileKey, `h${at}.test:${mute.port}`, left.signal).then(
      (response) => refused.resolve(response),
      () => {},
    )
  const { status, headers } = await refused.promise
  t.is(status, 503)
  t.truthy(headers.get('retry-after'))
  t.is((await call(workspaceKey, `used.test:${good.port}`)).status, 200)
  t.is((await call(workspaceKey, `fresh.test:${good.port}`)).status, 200)
})
