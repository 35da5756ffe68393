import { z } from 'zod'
import { route } from '../../app/route.ts'
import { isStorableJson } from '../../lib/text/text.ts'
import { signedInHere } from './signed-in-here.ts'
import { UserPreferences } from './user-preferences.entity.ts'

const maxBytes = 16_384

const preferences = z
  .record(z.string(), z.unknown())
  .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= maxBytes, `Preferences have ${maxBytes} bytes of JSON at most.`)
  .refine(isStorableJson, 'NUL characters and broken Unicode are not allowed.')
  .meta({ description: `The data that a console keeps for the person, ${maxBytes} bytes of JSON at most. Gatehouse does not read it.` })

const preferencesBody = z
  .strictObject({ preferences })
  .meta({ id: 'SetPreferences', description: 'All preferences; omitted ones are deleted.' })

const preferencesView = z
  .object({ preferences: z.record(z.string(), z.unknown()), last_updated_at: z.iso.datetime().nullable() })
  .meta({ id: 'Preferences', description: 'The data that a console keeps for the signed-in person.' })

const path = '/auth/me/preferences'
const callers = ['session'] as const

const present = (row: UserPreferences | null) => ({
  preferences: { ...row?.preferences },
  last_updated_at: row?.lastUpdatedAt.toISOString() ?? null,
})

export const readPreferences = route({
  method: 'GET',
  path,
  below: '/',
  summary: 'Read your preferences',
  permission: [],
  callers,
  response: preferencesView,
})(async ({ em, actor }) => {
  signedInHere(actor)
  return present(await em.findOne(UserPreferences, { userId: actor.id }))
})

export const setPreferences = route({
  method: 'PUT',
  path,
  below: '/',
  summary: 'Set your preferences',
  permission: [],
  callers,
  resource: 'preferences',
  action: 'set',
  body: preferencesBody,
  response: preferencesView,
})(async ({ em, actor, deps, body, audit }) => {
  signedInHere(actor)
  const { id: userId, organisationId } = actor
  // Two browsers may set the first ones at once.
  await em.execute('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [`gatehouse:preferences:${userId}`])
  const lastUpdatedAt = new Date(deps.clock.now())
  const before = await em.findOne(UserPreferences, { userId })
  const row =
    before === null
      ? em.create(UserPreferences, { userId, organisationId, ...body, lastUpdatedAt })
      : Object.assign(before, { ...body, lastUpdatedAt })
  await em.flush()
  audit({ id: userId })
  return present(row)
})
