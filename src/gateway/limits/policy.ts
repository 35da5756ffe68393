import { hash } from 'node:crypto'
import { toReference } from '../../lib/is-uuid.ts'
import { askedForms, thingForms } from '../../lib/text/thing-forms.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { KeyView, ProviderScope } from '../callers/key.ts'
import type { Target } from '../targets/target.ts'
import type { Call } from '../call.ts'
import { ofOperations } from '../operations/work.ts'
import type { Limit } from './limit.ts'
import { valueKeyOf } from './value-key.ts'

/** A condition of a policy: one of the values must fit, and none of those that are excluded. */
export interface PolicyCondition {
  readonly key: string
  readonly values: readonly string[]
  readonly excludes: readonly string[]
}

/** A limit for all requests that meet conditions, counted for each combination of the values that it groups by. */
export interface PolicyView {
  readonly id: string
  readonly conditions: readonly PolicyCondition[]
  /** Keys of conditions. */
  readonly groupBy: readonly string[]
  /** The limit of one combination, but for its values. */
  readonly limit: Limit
  /** The times from which single combinations are counted anew, in epoch milliseconds by value key. */
  readonly resets: ReadonlyMap<string, number>
}

/** The port to the policies of a workspace. */
export interface PolicySource {
  /** Null: there are none, or they are off. */
  policies(scope: ProviderScope): MaybePromise<readonly PolicyView[] | null>
}

/** A request on its way to a target, or a log of one, as conditions see it. */
export interface PolicyRequest {
  readonly call: {
    readonly caller: { readonly key: Pick<KeyView, 'id' | 'organisationId' | 'workspaceId' | 'workspaceSlug'> }
    readonly metadata: Readonly<Record<string, string>>
    readonly config: { readonly slug: string | null } | null
    readonly prompt: { readonly slug: string; readonly id: string } | null
  }
  /** Returns the names of its operation: the operation that asks for the like of it, its own name, its task. */
  readonly endpoints: () => readonly string[]
  /** Returns every model that it names, wherever it does; absent: that of its target alone. */
  readonly models?: () => readonly string[]
  readonly target: Pick<Target, 'providerId' | 'model'> & { readonly view: { readonly slug: string; readonly id: string } | null }
}

/** Returns the limits of the policies whose conditions a request meets. */
export function policyLimits(policies: readonly PolicyView[], request: PolicyRequest): readonly Limit[] {
  const limits: Limit[] = []
  for (const policy of policies)
    if (policy.conditions.every((condition) => holds(condition, request))) limits.push(limitOf(policy, request))
  return limits
}

/** Returns true if any of some policies must know the models of a request. */
export const readsModels = (policies: readonly PolicyView[]): boolean =>
  policies.some(({ conditions, groupBy }) => groupBy.includes('model') || conditions.some(({ key }) => key === 'model'))

const metadataPrefix = 'metadata.'
const any = '*'
const thingKey = `${metadataPrefix}mcp_name`

type Reader = (name: string) => readonly string[]

/** How the names of a request, and those of a condition, are read before they are compared. */
interface Readers {
  readonly asked: Reader
  readonly stored: Reader
}

const asItIs: Reader = (name) => [name]
/** Ids of requests are in small letters; those of conditions may be stored in others. */
const reference: Reader = (value) => [toReference(value)]
/** Names of models count without regard to case, as in price lists. */
const lower: Reader = (name) => [name.toLowerCase()]

function readersOf(key: string): Readers {
  // A caller may write the name of a thing of an MCP server in all ways that the server takes for the same.
  if (key === thingKey) return { asked: askedForms, stored: thingForms }
  if (key === 'model') return { asked: lower, stored: lower }
  return key.startsWith(metadataPrefix) ? { asked: asItIs, stored: asItIs } : { asked: asItIs, stored: reference }
}

/** A request that names several models meets a condition when any of them does: it is unknown which of them its provider reads. */
const holds = (condition: PolicyCondition, request: PolicyRequest): boolean =>
  condition.key === 'model'
    ? modelsOf(request).some((model) => meets(condition, namesOfModel(model, request)))
    : meets(condition, namesOf(condition.key, request))

function meets(condition: PolicyCondition, names: readonly string[]): boolean {
  const { values, excludes, read } = readyOf(condition)
  return !fits(excludes, names.flatMap(read.stored)) && fits(values, names.flatMap(read.asked))
}

/** A condition as it is compared: a request may have many names, and a workspace many values. */
interface ReadyCondition {
  readonly values: ReadonlySet<string>
  readonly excludes: ReadonlySet<string>
  readonly read: Readers
}

const ready = new WeakMap<PolicyCondition, ReadyCondition>()

function readyOf(condition: PolicyCondition): ReadyCondition {
  const known = ready.get(condition)
  if (known !== undefined) return known
  const read = readersOf(condition.key)
  const made = {
    values: new Set(condition.values.flatMap(read.stored)),
    excludes: new Set(condition.excludes.flatMap(read.stored)),
    read,
  }
  ready.set(condition, made)
  return made
}

const modelsOf = ({ target: { model }, models }: PolicyRequest): readonly string[] => {
  const others = models?.() ?? none
  return model === null || others.includes(model) ? others : [model, ...others]
}

const namesOfModel = (model: string, { target: { view } }: PolicyRequest): readonly string[] =>
  view === null ? [model] : [model, `@${view.slug}/${model}`]

/** Returns the first model that meets the conditions for models: callers could choose another counter by a name that meets none. */
function groupModel(conditions: readonly PolicyCondition[], request: PolicyRequest): string {
  const models = modelsOf(request)
  const ofModels = conditions.filter(({ key }) => key === 'model')
  return models.find((model) => ofModels.every((condition) => meets(condition, namesOfModel(model, request)))) ?? models[0] ?? ''
}

/** `*` fits every value that there is, and `@slug/*` every model of a provider. */
const fits = (values: ReadonlySet<string>, names: readonly string[]): boolean =>
  values.size > 0 && ((values.has(any) && names.length > 0) || names.some((name) => values.has(name) || values.has(patternOf(name))))

/** Returns the pattern for all models of the provider that a name has before its first slash. */
const patternOf = (name: string): string => `${name.slice(0, name.indexOf('/') + 1)}${any}`

function limitOf({ limit, conditions, groupBy, resets }: PolicyView, request: PolicyRequest): Limit {
  const groupOf = (key: string) => (key === 'model' ? groupModel(conditions, request) : (namesOf(key, request)[0] ?? ''))
  const valueKey = valueKeyOf(groupBy.map((key) => [key, key === 'model' ? groupOf(key).toLowerCase() : groupOf(key)]))
  // Callers choose values of metadata; a counter's name has a bound.
  const named = valueKey.length > longestValueKey ? hash('sha256', valueKey) : valueKey
  const reset = resets.get(named)
  const told = { id: `${limit.id}:${reset ?? ''}:${named}`, name: `${limit.name} for ${valueKey.slice(0, longestValueKey)}` }
  const { budget } = limit
  if (budget === undefined) return { ...limit, ...told }
  return { ...limit, ...told, budget: { ...budget, valueKey: named, from: Math.floor(reset ?? budget.from) } }
}

const longestValueKey = 500

/** The names of a thing in conditions. The first one stands in groups. */
const namesOf = (key: string, request: PolicyRequest): readonly string[] =>
  key.startsWith(metadataPrefix) ? present(request.call.metadata[key.slice(metadataPrefix.length)]) : (readers[key]?.(request) ?? none)

const none: readonly string[] = []
const present = (...names: readonly (string | null | undefined)[]): readonly string[] =>
  names.filter((name): name is string => typeof name === 'string')

const readers: Readonly<Record<string, (request: PolicyRequest) => readonly string[]>> = {
  api_key: ({ call }) => [call.caller.key.id],
  workspace_id: ({ call: { caller } }) => present(caller.key.workspaceId, caller.key.workspaceSlug),
  organisation_id: ({ call }) => [call.caller.key.organisationId],
  virtual_key: ({ target: { view } }) => present(view?.slug, view?.id),
  provider: ({ target }) => present(target.providerId, target.view && `@${target.view.slug}`, target.view?.slug),
  config: ({ call }) => present(call.config?.slug),
  prompt: ({ call: { prompt } }) => present(prompt?.slug, prompt?.id),
  endpoint_type: ({ endpoints }) => endpoints(),
}

/** Returns the names by which policies match the operation of a request, the first of which stands in groups. */
export function endpointNames({ operation: { name }, work }: Pick<Call, 'operation' | 'work'>): readonly string[] {
  const { operation = null, task = null } = work ?? {}
  return [...new Set([operation ?? name, name, ...(task === null ? [] : [task])])]
}

/** Returns the same for a request by the operation in its log. */
export function endpointNamesOfLog(name: string): readonly string[] {
  const operation = likeOfGoogle[name] ?? name
  const { task = null } = ofOperations.get(operation) ?? {}
  return [...new Set([operation, name, ...(task === null ? [] : [task])])]
}

/** The operations that ask for the like of Google's methods. */
const likeOfGoogle: Readonly<Record<string, string>> = {
  generateContent: 'chatComplete',
  streamGenerateContent: 'chatComplete',
  embedContent: 'embed',
  batchEmbedContents: 'embed',
}
