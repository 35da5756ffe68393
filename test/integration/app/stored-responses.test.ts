import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { randomBytes, randomUUID } from 'node:crypto'
import test from 'ava'
import pino from 'pino'
import { openSidePool } from '../../../src/app/database/side-pool.ts'
import { openStoredResponses } from '../../../src/app/stored-responses/stored-responses.ts'
import { createLogSeal } from '../../../src/gateway/journal/log-seal.ts'
import { ApiError } from '../../../src/lib/errors.ts'

test('a database that falls silent holds one answer up for two seconds, and not those after it', async (t) => {
  const open = new Set<Socket>()
  const silent = createServer((socket) => void open.add(socket))
  await once(silent.listen(0, '127.0.0.1'), 'listening')
  const { port } = silent.address() as AddressInfo
  const client = { host: '127.0.0.1', port, user: 'u', password: 'p', database: 'd' }
  const seal = createLogSeal(randomBytes(32))
  const stored = openStoredResponses({ side: openSidePool(client), seal, log: pino({ level: 'silent' }), retentionDays: 1 })
  t.teardown(() => {
    for (const socket of open) socket.destroy()
    silent.close()
  })
  const put = () =>
    stored.put(
      'resp',
      { organisationId: randomUUID(), workspaceId: null, apiKeyId: randomUUID(), userId: null },
      { response: {}, input: [] },
    )
  const begun = performance.now()
  t.is((await t.throwsAsync(put(), { instanceOf: ApiError }))?.code, 'dependency_unavailable')
  t.true(performance.now() - begun > 1000)
  const connections = open.size
  const again = performance.now()
  await Promise.all(Array.from({ length: 20 }, async () => t.throwsAsync(put(), { instanceOf: ApiError })))
  t.true(performance.now() - again < 1000)
  t.is(open.size, connections)
})

test('with a retention of no days nothing is kept', async (t) => {
  const seal = createLogSeal(randomBytes(32))
  const keeping = [0, 1].map((retentionDays) =>
    openStoredResponses({ side: openSidePool({}), seal, log: pino({ level: 'silent' }), retentionDays }),
  )
  t.deepEqual(
    keeping.map(({ keeps }) => keeps),
    [false, true],
  )
})
