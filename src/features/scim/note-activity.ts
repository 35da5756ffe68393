import { inTenant } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import type { Heard } from '../../app/protocol.ts'
import { oneLine } from '../../lib/text/one-line.ts'
import { scrubSecrets } from '../../lib/text/secret-shapes.ts'
import { ScimActivity, type ActivityResource, type Operation } from './scim-activity.entity.ts'
import { isObject } from './schema/normalise.ts'

const operationBy: Readonly<Record<Heard['route']['method'], Operation>> = {
  POST: 'create',
  PUT: 'replace',
  PATCH: 'patch',
  DELETE: 'delete',
  GET: 'read',
}

/** Notes a write of an identity provider, and everything that was refused to it. Looking is not noted: providers look before each write. */
export async function noteActivity(heard: Heard, { orm, clock }: Pick<Deps, 'orm' | 'clock'>): Promise<void> {
  const { actor, route, answer } = heard
  if (route.method === 'GET' && answer.status < 400) return
  await inTenant(orm, actor.organisationId, async (em) => {
    em.create(ScimActivity, {
      organisationId: actor.organisationId,
      tokenId: actor.id,
      tokenName: actor.name ?? '',
      operation: operationBy[route.method],
      resourceType: resourceOf(route.path),
      ...about(heard),
      status: answer.status,
      requestId: heard.requestId,
      createdAt: new Date(clock.now()),
    })
    await em.flush()
  })
}

const resourceOf = (path: string): ActivityResource => (path.startsWith('/Users') ? 'User' : path.startsWith('/Groups') ? 'Group' : 'Other')

const longestName = 255
const longestError = 1000

/** Returns what a request was about. What was refused has only what the identity provider sent. */
function about({ params, body, answer }: Heard) {
  const failed = answer.status >= 400
  const told = failed ? body : (answer.body ?? body)
  return {
    resourceId: clipped(params['id'] ?? fieldOf(failed ? null : answer.body, 'id'), longestName),
    resourceName: clipped(fieldOf(told, 'userName') ?? fieldOf(told, 'displayName'), longestName),
    scimType: failed ? clipped(fieldOf(answer.body, 'scimType'), longestName) : null,
    error: failed ? clipped(fieldOf(answer.body, 'detail'), longestError) : null,
  }
}

const fieldOf = (value: unknown, name: string): string | null => {
  const found = isObject(value) ? value[name] : null
  return typeof found === 'string' && found !== '' ? found : null
}

const clipped = (text: string | null, most: number): string | null => (text === null ? null : oneLine(scrubSecrets(text), most))
