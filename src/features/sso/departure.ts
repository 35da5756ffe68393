import type { Actor, Call } from '../../app/route.ts'
import { actorOf } from './actor.ts'

/** A browser that is sent to a provider. */
export interface Departure {
  readonly url: string
  readonly cookie: string
}

const departures = new WeakMap<Actor, Departure>()

/** Returns the caller of a departure, whose identity is still unknown. */
export function farewell(organisationId: string, departure: Departure): Actor {
  const actor = actorOf(organisationId, { type: 'invite', id: organisationId, name: null })
  departures.set(actor, departure)
  return actor
}

/** Sends the browser to the provider. */
export async function leave({ actor, reply }: Pick<Call<unknown, unknown, unknown>, 'actor' | 'reply'>): Promise<Record<string, never>> {
  const departure = departures.get(actor)
  if (departure === undefined) throw new Error('the caller was not identified by a sign-in')
  reply.cookie(departure.cookie)
  reply.redirect(departure.url)
  return {}
}
