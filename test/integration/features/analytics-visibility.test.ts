import test from 'ava'
import fc from 'fast-check'
import { features } from '../../../src/features/index.ts'
import { startUsed, usedRecord, type UsedControl } from './used-control.ts'

let used: UsedControl
test.before(async () => void (used = await startUsed()))
test.after.always(() => used.close())

/** Values of the parts of paths. */
const parts: Readonly<Record<string, readonly string[]>> = {
  groupBy: ['model', 'api_key', 'status_code', 'workspace'],
  metadataKey: ['_user', 'env'],
}

/** Every route with figures of logs, with each value of its parts: a new one is covered here at once. */
const paths = features
  .filter(({ id }) => id.includes('analytics'))
  .flatMap(({ routes }) => routes)
  .filter(({ method }) => method === 'GET')
  .flatMap(({ path }) => {
    const part = /:([A-Za-z]+)/.exec(path)?.[1]
    return part === undefined ? [path] : (parts[part] ?? []).map((value) => path.replace(`:${part}`, value))
  })

/** The parameters that a route needs. */
const needed = (path: string): string =>
  path.endsWith('/facets') ? '&fields=ai_model,status_code,outcome,operation,api_key_ids,user_id' : ''
const queries = ['', 'ai_model=o3', 'total_units_min=50', 'cost_min=1', 'metadata={"env":"prod"}']

const everyFilter =
  'operation=chatComplete&operation_not=a&error_code_not=b&outcome=complete&guardrail=denied&stream=true&response_time_min=1&response_time_max=2&cost_min=1&metadata_keys=a&span_id=a&weighted_feedback_min=1&user_id_not=01980000-0000-7000-8000-000000000001&cache_status_not=HIT'

test.serial('every route takes every filter of logs', async (t) => {
  for (const path of paths) {
    const { status, text } = await used.control.call(used.acme.adminKey, 'GET', `${path}?${everyFilter}${needed(path)}`)
    t.is(status, 200, `${path}: ${text}`)
  }
})

test.serial('what one may not see is in no figure of any route: logs of others change no answer', async (t) => {
  t.true(paths.length > 25)
  await used.control.call(used.acme.adminKey, 'PUT', '/admin/organisation', { settings: { membersViewAllData: false } })
  await used.control.refresh()
  const bounds = `time_of_generation_min=${new Date(Date.now() - 8 * 86_400_000).toISOString()}&time_of_generation_max=${new Date().toISOString()}`
  const ask = async (key: string) => {
    const answers: (readonly [path: string, query: string, body: unknown])[] = []
    for (const path of paths) {
      const asked = queries.map(async (query) => {
        const { status, body, text } = await used.control.call(key, 'GET', `${path}?${bounds}&${encodeURI(query)}${needed(path)}`)
        t.is(status, 200, `${path} ${query}: ${text}`)
        return [path, query, body] as const
      })
      answers.push(...(await Promise.all(asked)))
    }
    return answers
  }
  const own = await ask(used.ada.key)
  const all = await ask(used.acme.adminKey)
  // Else the rest would hold for routes that show no figures.
  t.true(own.filter(([, , body]) => /"(?:requests|total|count)":[1-9]/.test(JSON.stringify(body))).length > 20)
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ at: fc.integer({ min: 1, max: 150 }), side: fc.boolean() }), {
        minLength: 5,
        maxLength: 40,
      }),
      async (others) => {
        await used.ship(
          others.map(({ at, side }) => ({
            ...usedRecord(used.acme, used.ada.userId, at),
            userId: null,
            workspaceId: side ? used.acme.sideId : used.acme.workspaceId,
            apiKeyId: '01980000-0000-7000-8000-0000000000aa',
            model: 'unseen',
            provider: 'unseen',
            metadata: { _user: 'unseen', env: 'prod' },
          })),
        )
        t.deepEqual(await ask(used.ada.key), own)
      },
    ),
    { numRuns: 3 },
  )
  t.notDeepEqual(await ask(used.acme.adminKey), all)
})
