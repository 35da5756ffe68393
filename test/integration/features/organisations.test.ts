import test from 'ava'
import { startControl } from './setup.ts'

test('an organisation is told for how long logs and analytics are kept, as the settings say', async (t) => {
  for (const [env, shown] of [
    [{}, [90, 365]],
    [{ LOG_RETENTION_DAYS: '30', METRICS_RETENTION_DISPLAY: '100' }, [30, 100]],
  ] as const) {
    const control = await startControl({}, env)
    try {
      const { adminKey, organisationId } = await control.createTenant('acme')
      const { body } = await control.call(adminKey, 'GET', '/organisations/self')
      t.is(body['id'], organisationId)
      t.deepEqual([body['log_retention_display'], body['metrics_retention_display']], [...shown])
    } finally {
      await control.close()
    }
  }
})
