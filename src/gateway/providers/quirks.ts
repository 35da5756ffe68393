import type { Loss } from '../dialects/neutral/loss.ts'
import { fieldNamed } from '../dialects/openai-chat/names.ts'
import type { SpokenConversation } from '../dialects/translate.ts'
import type { Quirks } from './provider.ts'

export type Body = Readonly<Record<string, unknown>>

/** The reporter of losses. */
export interface LossReport {
  readonly loss: Loss
  /** Returns the caller's name of a parameter of the body. */
  readonly nameOf: (name: string) => string
}

/** Parameters without which an answer would be another one; all others that are dropped only steer. */
const meaningful: ReadonlySet<string> = new Set(['n', 'logprobs'])

/** Values that equal the default: dropping them is no loss. */
const usual: Readonly<Record<string, unknown>> = { n: 1, logprobs: false, store: false, frequency_penalty: 0, presence_penalty: 0 }

/** How usage is streamed is ours to answer. */
const ours = 'stream_options'

/**
 * Bends a body to one provider, and reports each value that does not arrive as it was given. The same body: the provider takes it. Throws
 * `invalid_request` for a parameter that the provider refuses, and without which the request would mean something else.
 */
export function bend(body: Body, quirks: Quirks | undefined, telling: LossReport): Body {
  if (quirks === undefined || !quirksTouch(body, quirks)) return body
  const dropped = droppedOf(body, quirks)
  for (const [name, value] of Object.entries(body)) {
    if (value === null || value === undefined) continue
    if (dropped.includes(name)) tellDropped(name, value, telling)
    else tellBounded(name, value, { ...telling, quirks })
  }
  return applyQuirks(body, quirks)
}

/** Returns a function that bends translated bodies to one provider; losses are named in the caller's words. */
export const bendingOf = (quirks: Quirks | undefined): Pick<SpokenConversation, 'bend'> =>
  quirks === undefined
    ? {}
    : {
        bend: (body, request, loss) =>
          bend(body, quirks, {
            loss,
            nameOf(parameter) {
              const field = fieldNamed(parameter)
              return field === null || request[field] === null ? parameter : loss.nameOf(field)
            },
          }),
      }

function tellDropped(name: string, value: unknown, { loss, nameOf }: LossReport): void {
  if (name === ours || value === own(usual, name)) return
  if (meaningful.has(name)) loss.refuseAt(nameOf(name), 'is refused there')
  loss.dropAt(nameOf(name), 'is refused there')
}

function tellBounded(name: string, value: unknown, { loss, nameOf, quirks }: LossReport & { readonly quirks: Quirks }): void {
  const range = own(quirks.clamp, own(quirks.rename, name) ?? name)
  if (range !== undefined && bound(value, range) !== value) loss.dropAt(nameOf(name), `must be from ${range[0]} to ${range[1]} there`)
}

/** Returns true if a body has a parameter under the dialect's name alone, where the provider has another name for it. */
export function namesOtherwise(body: Body, { rename }: Quirks): boolean {
  for (const name in rename) if (isRenamed(name, body, rename)) return true
  return false
}

/** Returns a body with the provider's names of its parameters. A parameter that has both names keeps them: the provider decides which one counts. */
export const inItsNames = (body: Body, { rename = {} }: Quirks): Body =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [isRenamed(name, body, rename) ? (rename[name] ?? name) : name, value]))

function isRenamed(name: string, body: Body, rename: NonNullable<Quirks['rename']>): boolean {
  const other = own(rename, name)
  return other !== undefined && Object.hasOwn(body, name) && !Object.hasOwn(body, other)
}

/** Bends a dialect's body to one provider. Returns a new body; the input is never touched. A name of the provider's own wins over a renamed one. */
export function applyQuirks(body: Body, quirks: Quirks): Body {
  const bent: [string, unknown][] = []
  const dropped = droppedOf(body, quirks)
  for (const [name, value] of Object.entries(body)) {
    if (dropped.includes(name)) continue
    const renamed = own(quirks.rename, name)
    if (renamed !== undefined && Object.hasOwn(body, renamed)) continue
    const target = renamed ?? name
    bent.push([target, bound(value, own(quirks.clamp, target))])
  }
  return Object.fromEntries(bent)
}

/** Returns true if `applyQuirks` would change this body; otherwise the original bytes can be sent. */
export function quirksTouch(body: Body, quirks: Quirks): boolean {
  const { rename, clamp } = quirks
  return (
    droppedOf(body, quirks).some((name) => Object.hasOwn(body, name)) ||
    Object.keys(rename ?? {}).some((name) => Object.hasOwn(body, name)) ||
    Object.entries(clamp ?? {}).some(([name, range]) => Object.hasOwn(body, name) && bound(body[name], range) !== body[name])
  )
}

/** Returns the parameters that the model of a body refuses. */
function droppedOf({ model }: Body, { drop = [], dropOf }: Quirks): readonly string[] {
  return dropOf !== undefined && typeof model === 'string' && dropOf[0].test(model) ? [...drop, ...dropOf[1]] : drop
}

/** Only a table's own rows count: a body field called `constructor` is a plain field. */
function own<T>(table: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined
}

function bound(value: unknown, range: readonly [min: number, max: number] | undefined): unknown {
  if (range === undefined || typeof value !== 'number') return value
  return Math.min(Math.max(value, range[0]), range[1])
}
