import { z } from 'zod'
import { flagOf, laterValues, markOf, type Mark } from './since.ts'
import { changedParts, defOf, isSchema, partsOf, shapeOf } from './schema-parts.ts'
import { compareVersions, isVersion } from './version.ts'

/** `request`: a later field is refused, and the fault names its release; `answer`: it is left out; `description`: the schema lacks it. */
export type Use = 'request' | 'answer' | 'description'

/** Level of an installation, and the flags that turn off the parts marked with them. */
export interface ShownLevel {
  readonly release: string
  readonly off?: ReadonlySet<string>
}

interface Stage extends ShownLevel {
  readonly use: Use
}

/** Stands for a schema that the level does not have. */
const absent = Symbol('absent')

/**
 * A schema as it is at a level: without the fields, forms and values that later releases bring. Made once for all levels between which no part is
 * marked; a schema with all its parts is returned unchanged.
 */
export function atLevel<T extends z.ZodType>(schema: T, shown: string | ShownLevel, use: Use): T {
  const found = whole(schema, typeof shown === 'string' ? { release: shown, use } : { release: shown.release, off: shown.off ?? none, use })
  if (found === absent) throw new Error('A schema as a whole cannot come with a release: mark the route.')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a part that is missing at a level is as good as not sent
  return found as T
}

const made: Readonly<Record<Use, WeakMap<z.core.$ZodType, Map<string, z.ZodType | typeof absent>>>> = {
  request: new WeakMap(),
  answer: new WeakMap(),
  description: new WeakMap(),
}

function whole(schema: z.ZodType, stage: Stage): z.ZodType | typeof absent {
  const later = releasesOf(schema).filter((release) => isLater(release, stage))
  if (later.length === 0) return schema
  const kept = made[stage.use].get(schema) ?? new Map<string, z.ZodType | typeof absent>()
  made[stage.use].set(schema, kept)
  const key = later.join()
  const known = kept.get(key)
  if (known !== undefined) return known
  const fresh = build(schema, stage)
  kept.set(key, fresh)
  return fresh
}

const none: ReadonlySet<string> = new Set()

/** Returns true if a mark (a release or a flag) takes away the part that has it. */
const isLater = (mark: string, { release, off }: Stage) => (isVersion(mark) ? compareVersions(mark, release) > 0 : off?.has(mark) === true)

const reached = new WeakMap<z.core.$ZodType, readonly string[]>()

/** Returns the releases that a schema, and all within it, is marked with, oldest first, and then the flags. */
export function releasesOf(schema: z.core.$ZodType): readonly string[] {
  const known = reached.get(schema)
  if (known !== undefined) return known
  const [seen, releases, flags] = [new Set<z.core.$ZodType>(), new Set<string>(), new Set<string>()]
  const visit = (part: z.core.$ZodType) => {
    if (seen.has(part)) return
    seen.add(part)
    const mark = markOf(part)
    for (const release of [mark?.since ?? [], Object.values(laterValues(part))].flat()) releases.add(release)
    const flag = flagOf(part)
    if (flag !== null) flags.add(flag)
    if (mark?.former !== undefined) visit(mark.former)
    for (const inner of partsOf(part)) visit(inner.schema)
  }
  visit(schema)
  const sorted = [...[...releases].toSorted(compareVersions), ...flags]
  reached.set(schema, sorted)
  return sorted
}

const isOff = (schema: z.ZodType, { off = none }: Stage) => off.has(flagOf(schema) ?? '')

function build(schema: z.ZodType, stage: Stage): z.ZodType | typeof absent {
  const mark = markOf(schema)
  if (mark !== null && isLater(mark.since, stage)) return before(schema, mark, stage)
  if (isOff(schema, stage)) return absent
  const { type } = defOf(schema)
  if (type === 'object') return objectAt(schema, stage)
  if (type === 'union') return unionAt(schema, stage)
  if (type === 'enum' || type === 'string') return valuesAt(schema, stage)
  let missing = false
  const def = changedParts(schema, (part) => {
    const changed = whole(part, stage)
    if (changed === absent) missing = true
    return changed
  })
  if (missing) return absentWithin(schema, stage)
  return type === 'array' && stage.use === 'answer' ? listAt(remade(schema, def), schema, stage) : remade(schema, def)
}

/** Returns the former schema. Answers hold stored values, in any form. */
function before(schema: z.ZodType, { since: release, former }: Mark, stage: Stage): z.ZodType | typeof absent {
  if (former === undefined) return absent
  if (stage.use === 'answer') return schema
  const known = atLevel(former, stage, stage.use)
  if (stage.use === 'description') return known
  return withError(known, ({ input }) => (schema.safeParse(input).success ? says(release) : undefined))
}

/** Returns the inner value of a wrapper at the level: absent when it is absent, except for its default; a list of absent values has no meaning. */
function absentWithin(schema: z.ZodType, stage: Stage): z.ZodType | typeof absent {
  const { type, ...def } = defOf(schema)
  if (stage.use === 'request' && (type === 'default' || type === 'prefault'))
    return z.custom(() => false, { error: () => says(laterIn(schema, stage)) }).default(schema.parse(undefined))
  if ('innerType' in def || 'in' in def) return absent
  throw new Error(`A part of a schema of the type ${schema.type} cannot come with a release: mark the whole of it.`)
}

/** The release of which something is missing. */
const laterIn = (schema: z.ZodType, stage: Stage): string => releasesOf(schema).find((release) => isLater(release, stage)) ?? stage.release

function objectAt(schema: z.ZodType, stage: Stage): z.ZodType {
  const def = changedParts(schema, (part) => whole(part, stage))
  if (stage.use === 'answer' && !isOpen(schema)) delete def['catchall']
  // Asked for when needed, because an object may hold itself.
  Object.defineProperty(def, 'shape', { get: () => shapeAt(schema, stage), enumerable: true, configurable: true })
  return remade(schema, def)
}

const shapeAt = (schema: z.ZodType, stage: Stage) =>
  Object.fromEntries(
    Object.entries(shapeOf(schema) ?? {}).flatMap(([name, field]) => {
      const changed = whole(field, stage)
      if (changed !== absent) return [[name, changed]]
      if (stage.use === 'request') return [[name, refused(field, stage)]]
      return stage.use === 'answer' && isOpen(schema) ? [[name, blank]] : []
    }),
  )

/** Returns true if an object keeps fields that it does not name. */
function isOpen(schema: z.ZodType): boolean {
  const { catchall } = defOf(schema)
  return isSchema(catchall) && catchall.type !== 'never'
}

/** In the place of a field of an open object, which would else pass: JSON leaves it out. */
const blank = z
  .unknown()
  .transform(() => undefined)
  .optional()

/** Replaces a field that is not there: by no field, or by a fault that names its release. */
const refused = (field: z.ZodType, stage: Stage): z.ZodType => z.never({ error: () => says(laterIn(field, stage)) }).optional()

function unionAt(schema: z.ZodType, stage: Stage): z.ZodType {
  const missing: z.ZodType[] = []
  const { options, ...def } = changedParts(schema, (part) => {
    const changed = whole(part, stage)
    if (changed !== absent) return changed
    if (stage.use === 'answer') return part
    missing.push(part)
    return absent
  })
  const present = [options].flat().filter(isSchema)
  if (missing.length === 0) return remade(schema, { ...def, options: present })
  const error = ({ input }: Fault) => {
    const wanted = missing.find((option) => option.safeParse(input).success)
    return wanted === undefined ? undefined : says(laterIn(wanted, stage))
  }
  // A union of one leaves the fault to it.
  return remade(schema, { ...def, error, options: present.length === 1 ? present.map((one) => withError(one, error)) : present })
}

/** Values that come later are refused, and not described. */
function valuesAt(schema: z.ZodType, stage: Stage): z.ZodType {
  const later = laterOf(schema, stage)
  if (stage.use === 'answer') return schema
  if (stage.use === 'request')
    return schema.superRefine((value, context) => {
      const release = later.get(String(value))
      if (release !== undefined) context.addIssue({ code: 'custom', message: `${String(value)} ${says(release)}` })
    })
  const { entries, ...def } = defOf(schema)
  if (entries === undefined) return schema
  const present = Object.entries(Object(entries)).filter(([, value]) => !later.has(String(value)))
  return remade(schema, { ...def, entries: Object.fromEntries(present) })
}

const laterOf = (schema: z.ZodType, stage: Stage): ReadonlyMap<string, string> =>
  new Map(Object.entries(laterValues(schema)).filter(([, release]) => isLater(release, stage)))

/** A list without the values that come later. */
function listAt(list: z.ZodType, schema: z.ZodType, stage: Stage): z.ZodType {
  const { element } = defOf(schema)
  const later = isSchema(element) ? laterOf(element, stage) : new Map<string, string>()
  if (later.size === 0) return list
  return z.preprocess((items) => (Array.isArray(items) ? items.filter((item: unknown) => !later.has(String(item))) : items), list)
}

interface Fault {
  readonly input?: unknown
}

const withError = (schema: z.ZodType, error: (fault: Fault) => string | undefined) => remade(schema, { ...defOf(schema), error })

/** Without the level, since a schema serves all levels that are alike. */
const says = (mark: string) =>
  isVersion(mark)
    ? `comes with release ${mark}, which is above the level of this installation`
    : `is off: set ${mark} to ON, or remove it, to turn it on`

/** The same schema with other parts, and with its descriptions. */
function remade(schema: z.ZodType, def: Readonly<Record<string, unknown>>): z.ZodType {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of the same kind as the schema's own
  const fresh = schema.clone(def as unknown as typeof schema._zod.def)
  const told = z.globalRegistry.get(schema)
  if (told !== undefined) z.globalRegistry.add(fresh, told)
  return fresh
}
