import { z } from 'zod'
import { feature } from '../../src/app/feature.ts'
import { route } from '../../src/app/route.ts'
import { ApiError } from '../../src/lib/errors.ts'

/** A feature for tests only: it echoes, fails in every way, and returns more than it declares. */
export const probe = feature({
  id: 'probe',
  since: '1.0.0',
  permissions: ['workspaces.list', 'workspaces.read', 'workspaces.update', 'audit_logs.list'],
  entities: [],
  routes: [
    route({
      method: 'POST',
      path: '/probe/echo',
      summary: 'Echo a body',
      permission: 'workspaces.update',
      resource: 'probe',
      body: z.strictObject({
        name: z.string().min(1).max(8),
        size: z.int().min(1).max(100).optional(),
        api_key: z.string().min(20).optional(),
        nested: z.strictObject({ secret: z.string().optional(), list: z.array(z.strictObject({ id: z.uuid() })).optional() }).optional(),
        either: z.union([z.string(), z.strictObject({ kind: z.literal('a'), value: z.int() })]).optional(),
        free: z.record(z.string(), z.unknown()).optional(),
      }),
      response: z.object({ name: z.string() }).meta({ id: 'ProbeEcho' }),
    })(async ({ body, audit }) => {
      audit({ id: '00000000-0000-4000-8000-000000000001' })
      return { name: body.name }
    }),
    route({
      method: 'GET',
      path: '/probe/items/:id',
      summary: 'Read an item that says too much',
      permission: ['workspaces.read', 'audit_logs.list'],
      params: z.object({ id: z.string() }),
      query: z.object({ size: z.coerce.number().int().max(10).optional() }),
      response: z.object({ id: z.string(), size: z.number().optional(), inner: z.object({ a: z.int() }) }),
    })(async ({ params, query }) => {
      const said = { id: params.id, size: query.size, inner: { a: 1, hidden: 'hidden-value' }, hidden: 'hidden-value' }
      return said
    }),
    route({
      method: 'PUT',
      path: '/probe/fail/:how',
      summary: 'Fail',
      permission: 'workspaces.update',
      resource: 'probe',
      params: z.object({ how: z.string() }),
      response: z.object({ ok: z.boolean() }),
    })(async ({ params, em, audit }) => {
      audit({ id: '00000000-0000-4000-8000-000000000002' })
      await em.execute(`UPDATE workspaces SET description = ? WHERE is_default`, [`changed by ${params.how}`])
      if (params.how === 'unforeseen') throw new TypeError('secret detail sk-abcdefghijklmnop')
      if (params.how === 'foreseen') throw new ApiError('AB08', 'There is no such thing.', { param: 'how' })
      if (params.how === 'unique') {
        await em.execute(
          `INSERT INTO organisations (id, slug, name) SELECT gen_random_uuid(), slug, name FROM organisations WHERE id = app_organisation()`,
        )
      }
      if (params.how === 'twice') await em.execute(`INSERT INTO workspaces SELECT * FROM workspaces`)
      if (params.how === 'wrong-answer') return JSON.parse('{"ok":"sk-abcdefghijklmnop"}') as { ok: boolean }
      if (params.how === 'too-long') await em.execute('SELECT pg_cancel_backend(pg_backend_pid())')
      return { ok: true }
    }),
  ],
})

/** Off by its flag, and not yet released. */
export const offByFlag = feature({ ...probe, id: 'off-by-flag', flag: 'POLICY_ENABLED', permissions: [], routes: [off('/off-by-flag')] })
export const offByRelease = feature({
  ...probe,
  id: 'off-by-release',
  since: '99.1.0',
  permissions: [],
  routes: [off('/off-by-release/:id')],
})
export const offByNeed = feature({
  ...probe,
  id: 'off-by-need',
  requires: ['off-by-flag'],
  permissions: [],
  routes: [off('/off-by-need')],
})

function off(path: `/${string}`) {
  return route({ method: 'GET', path, summary: 'Never answers', permission: 'workspaces.list', response: z.object({}) })(async () => ({}))
}
