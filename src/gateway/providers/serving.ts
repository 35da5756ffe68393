import { createLru, type Lru } from '../../lib/collections/lru.ts'
import type { DialectId } from '../dialects/dialect.ts'
import { clientCodecOf, providerCodecOf } from '../dialects/codecs.ts'
import { formatOf, translatesTask } from '../dialects/tasks/translate-task.ts'
import { plainTraits, type Traits } from '../dialects/traits.ts'
import { hasOptionsFor } from '../dialects/provider-options.ts'
import { conversations, type Operation, operations, type OperationSpec, type Task } from '../operations/operations.ts'
import { findProvider, providers } from './catalog.ts'
import { offeredHere, serves, spokenAt, spokenHere } from './endpoint.ts'
import type { Offer, Provider, NativeOperation } from './provider.ts'

type Fields = Readonly<Record<string, string>>

/** How a provider serves an operation. */
export interface ServedOperation {
  /** The dialect in which it is asked; another one than that of the operation: the request is translated. */
  readonly dialect: DialectId
  /** A template, as in `Spoken`. */
  readonly path: string
  /** The path of streams. */
  readonly streamPath: string
  /** Null: the provider's own base URL. */
  readonly baseUrl: string | null
  /** The model as the path wants it. */
  readonly model: string | null
  readonly traits: Traits
}

/** An operation at the address to which the fields of a credential lead. */
export interface OperationRequest {
  readonly operation: Operation
  /** The provider's name of the model; null: the request names none. */
  readonly model: string | null
  /** The caller's, where it is not that of the operation. */
  readonly dialect?: DialectId
  readonly fields?: Fields
  /** The `provider_options` of the request: a caller that gives fields for a format which the provider has beside the caller's is asked in that. */
  readonly options?: unknown
}

/** Returns how a provider serves an operation: as the caller asks it, or in a format of its own. Null: it cannot. */
export function servingOf(provider: Provider, asked: OperationRequest): ServedOperation | null {
  const { operation, model, dialect, options } = asked
  if (options !== undefined || dependsOnFields(provider) || (model !== null && model.length > longestKept))
    return findServing(provider, asked)
  const held = keptFor(provider)
  const key = model === null ? `${operation} ${dialect}` : `${operation} ${dialect} ${model}`
  const known = held.get(key)
  if (known !== undefined) return known
  const found = findServing(provider, asked)
  held.set(key, found)
  return found
}

/** Returns true if the address of a provider, or the form of its requests, depends on the fields of a credential. */
const dependsOnFields = ({ variants, bodyFields }: Provider): boolean => variants !== undefined || bodyFields !== undefined

/** Few models are asked for again and again. Bounded, because names come from outside. */
const kept = new WeakMap<Provider, Lru<ServedOperation | null>>()
const [mostKept, longestKept] = [200, 200]

function keptFor(provider: Provider): Lru<ServedOperation | null> {
  const held = kept.get(provider)
  if (held !== undefined) return held
  const made = createLru<ServedOperation | null>(mostKept)
  kept.set(provider, made)
  return made
}

function findServing(provider: Provider, asked: OperationRequest): ServedOperation | null {
  const { operation, model, fields = {} } = asked
  const spoken = spokenAt(provider, operation, fields)
  if (spoken !== null && serves(spoken, model)) return toServing(provider, betterThan(spoken, provider, asked) ?? spoken, { model, fields })
  const { dialect, task }: OperationSpec = operations[operation]
  if (task === undefined) return null
  const way = { dialect, model, fields, options: asked.options }
  const serving = offeredOf(provider, { task, ...way })
  return serving !== null || doneAs(task) === task ? serving : offeredOf(provider, { task: doneAs(task), ...way })
}

/** Returns the format that suits a caller better than the provider's own dialect: it has fields for it, or has to be translated anyhow. */
function betterThan({ dialect }: NativeOperation, provider: Provider, asked: OperationRequest): Offer | undefined {
  const { operation, dialect: own = dialect, options, fields } = asked
  const { task }: OperationSpec = operations[operation]
  const isTranslated = own !== dialect
  return offeredHere(provider, fields).find(
    (offer) => offer.task === task && (hasOptionsFor(options, offer.dialect) || (isTranslated && offer.first === true)),
  )
}

/** A task at the address to which the fields of a credential lead, in the caller's dialect. */
export interface AskedTask extends Omit<OperationRequest, 'operation'> {
  readonly task: Task
  readonly dialect: DialectId
}

/** Returns how a provider does a task: in the caller's dialect, or in a format of its own. Null: it does not offer it. */
export function offeredOf(provider: Provider, { task, dialect, model, fields = {}, options }: AskedTask): ServedOperation | null {
  const able = offersAt(provider, fields, model).filter((offer) => offer.task === task && standsFor(offer, model))
  const wanted = options === undefined ? undefined : able.find((one) => hasOptionsFor(options, one.dialect))
  const offer = wanted ?? able.find((one) => one.dialect === dialect) ?? able.find(({ first }) => first === true) ?? able[0]
  return offer === undefined ? null : toServing(provider, offer, { model, fields })
}

/** Returns the offers of a provider in any format, for one model or for some: first its own dialect at an address, then its offers at all of them. */
export function offersAt(provider: Provider, fields: Fields = {}, model: string | null = null): readonly Offer[] {
  const spoken = spokenHere(provider, fields).flatMap((one): readonly Offer[] => {
    const { operation, dialect, path } = one
    const { task }: OperationSpec = operations[operation]
    return task === undefined || !serves(one, model) ? [] : [{ task, dialect, path }]
  })
  return [...spoken, ...offeredHere(provider, fields)]
}

/** Returns true if a provider serves an operation in a format of its own alone. */
export function offersElsewhere(provider: Provider, operation: Operation | 'proxy'): boolean {
  if (operation === 'proxy' || spokenAt(provider, operation) !== null) return false
  const { task }: OperationSpec = operations[operation]
  return provider.offers?.some((offer) => offer.task === task) === true
}

const standsFor = ({ models }: Offer, model: string | null): boolean => models === undefined || (model !== null && models.test(model))

type Way = Pick<Offer, 'dialect' | 'path' | 'streamPath' | 'baseUrl' | 'models' | 'traits'>

function toServing(
  { traits, bodyFields }: Provider,
  { dialect, path, streamPath = path, baseUrl, models, traits: ownTraits }: Way,
  { model, fields }: { readonly model: string | null; readonly fields: Fields },
): ServedOperation {
  const plain = model === null || models === undefined ? model : (models.exec(model)?.[1] ?? model)
  const settings = bodyFields === undefined ? plainTraits.settings : chosen(fields, bodyFields)
  return {
    dialect,
    path,
    streamPath,
    baseUrl: baseUrl ?? null,
    model: plain,
    traits: { ...plainTraits, ...traits, ...ownTraits, settings },
  }
}

const chosen = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.flatMap((name) => (Object.hasOwn(fields, name) ? [[name, fields[name] ?? '']] : [])))

/**
 * Returns true if requests of an operation reach a provider by translation. For a request whose model is not known yet it is true if some of its
 * models are reached.
 */
export function translates(provider: Provider, asked: OperationRequest): boolean {
  const serving = servingOf(provider, asked)
  if (serving === null) return asked.model === null && offersAt(provider).some((offer) => reaches(provider, asked.operation, offer))
  const { dialect, task }: OperationSpec = operations[asked.operation]
  if (task !== undefined && translatesTask(task, dialect, formatOf(serving))) return true
  return clientCodecOf(dialect) !== null && providerCodecOf(serving.dialect) !== null
}

/** Returns the providers that serve an operation, as callers ask it or by translation, by their ids; those that every level has. */
export const speakersOf = (operation: Operation): readonly string[] =>
  Object.keys(providers).filter((id) => {
    const provider = findProvider(id)
    if (provider === null || provider.since !== undefined) return false
    return spokenAt(provider, operation) !== null || offersAt(provider).some((offer) => reaches(provider, operation, offer))
  })

/** Returns the providers that offer a task, by their ids; those that every level has. */
export const doersOf = (task: Task): readonly string[] =>
  Object.keys(providers).filter((id) => {
    const provider = findProvider(id)
    return provider !== null && provider.since === undefined && provider.offers?.some((offer) => offer.task === task) === true
  })

/** Returns true if requests of an operation are translated to an offer of a provider, for some of its models at least. */
function reaches(provider: Provider, operation: Operation, { task: offered, dialect: to, traits }: Offer): boolean {
  const { dialect, task }: OperationSpec = operations[operation]
  if (task === undefined) return false
  if (
    offered === task &&
    translatesTask(task, dialect, formatOf({ dialect: to, traits: { ...plainTraits, ...provider.traits, ...traits } }))
  )
    return true
  return offered === doneAs(task) && clientCodecOf(dialect) !== null && providerCodecOf(to) !== null
}

/** Returns the task as which another is done where it is not offered itself. */
const doneAs = (task: Task): Task => (conversations.has(task) ? 'conversation' : task)
