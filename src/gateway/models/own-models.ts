import { ApiError } from '../../lib/errors.ts'
import { leavesOf } from '../targets/plan.ts'
import { modelReference, namesNoTarget } from '../targets/addressing.ts'
import type { ProviderScope } from '../callers/key.ts'
import { egressFor } from '../egress/narrowed.ts'
import { clientDialect } from '../operations/fronts.ts'
import { googleVersions } from '../operations/google-versions.ts'
import { ownAnswers } from '../dialects/own-answers.ts'
import type { OfferedModel } from '../dialects/neutral/model.ts'
import { decodeSegment } from '../../lib/text/decode-segment.ts'
import { unescaped } from '../wire/segments.ts'
import type { CallHead } from '../call.ts'
import { type OfferedDeps, offerOfSlug, offeredModels } from './offered-models.ts'

const reading: ReadonlySet<string> = new Set(['GET', 'HEAD'])
const path = new RegExp(String.raw`^(?:/(?:${googleVersions.join('|')}))?/models(?:/(.+))?$`)

/** Returns true for the path of the list of models, or of one model: Gatehouse answers it if the request names no provider. */
export const isPathOfModels = (asked: string): boolean => path.test(pathOf(asked))

/**
 * Returns whether a request asks Gatehouse itself for its models: `GET /models`, or one of them, where it names no provider whose own list is meant,
 * or where the caller wants ours all the same. Throws `invalid_request` when it is not clear which.
 */
export function asksForOwnModels(head: CallHead): boolean {
  const { exchange, path: asked } = head
  if (!reading.has(exchange.method ?? '') || !isPathOfModels(asked)) return false
  return wantsIntegrated(head) || configWants(head) || namesNoTarget(head)
}

/** Returns whether the config of a request wants the list of all providers, for any target. */
const configWants = ({ config, course }: CallHead): boolean =>
  config?.fetchIntegratedModels === true ||
  (course !== null &&
    (course.alone.target.fetchIntegratedModels || leavesOf(course.plan).some(({ target }) => target.fetchIntegratedModels)))

function wantsIntegrated({ headers: { service } }: CallHead): boolean {
  const said = service.get('fetch-integrated-models') ?? ''
  if (/^(?:true|false)?$/i.test(said)) return said.toLowerCase() === 'true'
  const param = 'x-service-fetch-integrated-models'
  throw new ApiError('invalid_request', `${param} must be true or false, not ${JSON.stringify(said.slice(0, 20))}.`, { param })
}

/** The answer to such a request. Throws `not_found` for a model that is not there. */
export async function ownModels(
  { snapshot, egress, signing, prices }: OfferedDeps,
  { exchange, path: asked, caller }: CallHead,
): Promise<object> {
  const { organisationId, workspaceId } = caller.key
  const deps = { snapshot, prices, signing, egress: egressFor(egress, caller.key) }
  const { models } = ownAnswers[clientDialect(exchange)]
  const scope: ProviderScope = { organisationId, workspaceId }
  const [, id] = path.exec(pathOf(asked)) ?? []
  if (id !== undefined) return models.one(await findModel(deps, scope, decodeSegment(id)))
  const query = new URLSearchParams(asked.split('?', 2)[1] ?? '')
  const offered = await offeredModels(deps, scope)
  return models.list(searched(offered, query.get('search')), query)
}

/** Returns the models whose id or name has a text, in any case. */
function searched(models: readonly OfferedModel[], text: string | null): readonly OfferedModel[] {
  const wanted = (text ?? '').toLowerCase()
  return models.filter(({ id, name }) => id.toLowerCase().includes(wanted) || name.toLowerCase().includes(wanted))
}

async function findModel(deps: OfferedDeps, scope: ProviderScope, id: string): Promise<OfferedModel> {
  const reference = modelReference(id)
  const offer = reference === null ? [] : await offerOfSlug(deps, scope, reference.slug)
  const found = offer.find((model) => model.id === id)
  if (found !== undefined) return found
  throw new ApiError('not_found', `There is no model ${JSON.stringify(id.slice(0, 100))}. GET /v1/models lists them, as @slug/model.`, {
    param: 'model',
  })
}

const pathOf = (asked: string): string => unescaped(asked.split('?', 1)[0] ?? asked)
