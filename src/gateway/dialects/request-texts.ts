import { isFields, type Fields } from '../../lib/json/fields.ts'
import type { DialectId, DialectTexts, TextReader } from './dialect.ts'
import type { TextPart } from './neutral/texts.ts'
import { allTexts, dialects, textsOf } from './registry.ts'
import { isToken, kindOf } from './texts/field-kinds.ts'
import { saidBy } from './texts/readers.ts'
import { everyText, fieldTexts } from './texts/walk.ts'
import { decodeSegment } from '../../lib/text/decode-segment.ts'

type Place = readonly [field: string, read: TextReader]

const placesOf = ({ system = [], request }: DialectTexts): readonly Place[] => [
  ...system.map((field): Place => [field, saidBy('system')]),
  ...Object.entries(request),
]

/** The fields that hold texts in any dialect: a provider may read fields that its dialect lacks. */
const everywhere: ReadonlyMap<string, TextReader> = new Map([
  ...allTexts.flatMap(({ system = [] }) => system.map((field): Place => [field, saidBy('system')])),
  ...allTexts.flatMap(({ request }) => Object.entries(request)),
])

/** Those of a known dialect come last, so that they have the last word. */
function inOrder(own: DialectTexts): readonly Place[] {
  const last = placesOf(own)
  const others = [...everywhere].filter(([field]) => !last.some(([name]) => name === field))
  return [...others, ...last]
}

const places: ReadonlyMap<DialectTexts | null, readonly Place[]> = new Map<DialectTexts | null, readonly Place[]>([
  [null, [...everywhere]],
  ...Object.values(dialects).map(({ texts }) => [texts, inOrder(texts)] as const),
])

const conversations = [...new Set(allTexts.flatMap((texts) => texts.conversations ?? []))]
const roles: ReadonlyMap<string, string> = new Map(allTexts.flatMap((texts) => Object.entries(texts.roles ?? {})))
const unheard: ReadonlySet<string> = new Set(allTexts.flatMap((texts) => texts.unheard ?? []))

/**
 * Returns the texts of a request, each with its path. To an endpoint whose dialect is not known every text of a body counts, unless it
 * has the shape of a conversation: a guardrail is not passed by on another path.
 */
export function requestTexts(json: unknown, dialect: DialectId | null): readonly TextPart[] {
  if (!isFields(json)) return everyText(json, [], 'user')
  const unknown = dialect === null
  if (unknown && !conversations.some((name) => Array.isArray(json[name]))) return everyText(withoutModel(json), [], 'user')
  const found = otherTexts(json, unknown)
  for (const [name, read] of places.get(textsOf(dialect)) ?? [])
    if (Object.hasOwn(json, name)) for (const part of read(json[name], [name])) found.push(part)
  return found
}

/** Returns the texts beside the conversation; to an unknown endpoint any field may hold one. */
function otherTexts(json: Fields, unknown: boolean): TextPart[] {
  return Object.keys(json).flatMap((name) => {
    const value = json[name]
    if ((typeof value !== 'string' && typeof value !== 'object') || value === null || name === 'model') return []
    if (everywhere.has(name) || (!unknown && unheard.has(name))) return []
    return fieldTexts(json, name, (typeof value === 'object' ? roles.get(name) : undefined) ?? 'user')
  })
}

const withoutModel = (json: Fields): Fields => Object.fromEntries(Object.entries(json).filter(([name]) => name !== 'model'))

/** The first step in the path of texts that stand in the URL: they can be read, and not be changed. */
export const addressed = '?'

/**
 * Returns the texts in the path and the query of a request. Names, numbers and ids are none: read are values under a name that holds texts in bodies
 * too, and values that hold more than a name could.
 */
export function addressTexts(path: string): readonly TextPart[] {
  const { pathname, searchParams } = new URL(path, 'http://host')
  const said = [...searchParams].filter(([name, value]) => value !== '' && (!isToken(value) || saysText(name)))
  const segments = pathname.split('/').map(decodeSegment)
  return [
    ...segments.filter((text) => !isToken(text)).map((text): TextPart => ({ path: [addressed, 'path'], role: 'user', text })),
    ...said.map(([name, text]): TextPart => ({ path: [addressed, name], role: 'user', text })),
  ]
}

/** The names under which searches take their question. */
const questions: ReadonlySet<string> = new Set(['q', 'question', 'search', 'keyword', 'keywords', 'term', 'body'])

const saysText = (name: string): boolean =>
  questions.has(name) || everywhere.has(name) || ['said', 'main', 'free'].includes(kindOf(name) ?? '')
