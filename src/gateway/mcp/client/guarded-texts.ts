import { exactJson, parseExact } from '../../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { editJson } from '../../../lib/json/json-edit.ts'
import type { JsonPath } from '../../../lib/json/json-path.ts'
import { exactNumbers } from '../../../lib/json/exact-numbers.ts'
import type { BodyEdit, Phase } from '../../checks/check.ts'
import type { CheckedBody } from '../../checks/run.ts'
import type { TextPart } from '../../dialects/neutral/texts.ts'
import { isVast, vast } from '../../dialects/texts/walk.ts'
import { firstPlace, isMediaPlace, type MediaPlace, placeBelow } from './media-places.ts'
import { isOfProtocol, isProtocolWord } from './protocol-words.ts'

/** Parameters, a result or an error, as checks see it. */
export interface GuardedFields extends CheckedBody {
  readonly json: Fields
}

/** The last step to the name of a member, as a text of its own: no value is there. */
const nameStep = -1

/** So many texts, names and numbers are looked through. */
const mostParts = 250_000

/**
 * Returns the texts of parameters (`input`), of a result or of an error (`output`): all texts, names of members and numbers, but for words of the
 * protocol, and images and the like. Texts stand behind the others, so that the last text is the last word.
 */
export function guardedFields(json: Fields, phase: Phase): GuardedFields {
  if (isVast(json)) return { json, parts: [], unread: vast }
  const walk: Walk = {
    at: [],
    role: phase === 'input' ? 'user' : 'tool',
    texts: [],
    others: [],
    hasNumbers: false,
    place: firstPlace(phase),
  }
  readFields(json, walk)
  if (walk.texts.length + walk.others.length > mostParts) return { json, parts: [], unread: vast }
  const others = walk.hasNumbers ? withDigits(walk.others, json) : walk.others
  return { json, parts: others.concat(walk.texts) }
}

interface Walk {
  readonly at: (string | number)[]
  readonly role: string
  readonly texts: TextPart[]
  /** Names of members, and numbers. */
  readonly others: TextPart[]
  hasNumbers: boolean
  /** The place of the object that is being read. */
  place: MediaPlace
}

function readFields(fields: Fields, walk: Walk): void {
  const { place } = walk
  for (const [name, value] of Object.entries(fields)) {
    walk.at.push(name)
    walk.place = placeBelow(place, name, fields)
    if (!isProtocolWord(name) && name !== '') walk.others.push({ path: [...walk.at, nameStep], role: walk.role, text: name })
    if (!isOfProtocol({ name, value, holder: fields, mayBeMedia: isMediaPlace(place) })) read(value, walk)
    walk.at.pop()
  }
  walk.place = place
}

function read(value: unknown, walk: Walk): void {
  if (typeof value === 'string') {
    if (value !== '') walk.texts.push({ path: [...walk.at], role: walk.role, text: value })
  } else if (typeof value === 'number') {
    walk.hasNumbers = true
    walk.others.push({ path: [...walk.at], role: walk.role, text: String(value) })
  } else if (Array.isArray(value)) readList(value, walk)
  else if (isFields(value)) readFields(value, walk)
}

/** A list of numbers is one text: there may be a million of them. */
function readList(list: readonly unknown[], walk: Walk): void {
  if (list.length > 1 && list.every((item) => typeof item === 'number')) {
    walk.others.push({ path: [...walk.at], role: walk.role, text: exactJson(list) })
    return
  }
  for (let at = 0; at < list.length && walk.others.length + walk.texts.length <= mostParts; at += 1) {
    walk.at.push(at)
    read(list[at], walk)
    walk.at.pop()
  }
}

/** The numbers with all the digits that go on with them. */
function withDigits(others: TextPart[], json: Fields): TextPart[] {
  const exact = exactJson(json)
  if (exact === JSON.stringify(json)) return others
  const digitsAt = exactNumbers(exact)
  return others.map((part) => ({ ...part, text: digitsAt(part.path) ?? part.text }))
}

/** Why a check cannot change a text; null when it can. */
export const refusesEdit = ({ path: [first] }: BodyEdit): string | null =>
  first === 'uri' || first === 'cursor' ? 'The address of a resource, or of a page of a list, cannot be changed.' : null

/** The names of things, on which was decided before: checks look at them, and they stay. */
const isOfName = ({ path: [first] }: BodyEdit): boolean => first === 'name' || first === 'ref'

/** Returns the fields with changes of checks; a number becomes a text by it, and the other numbers keep all their digits. */
export function editFields({ json }: GuardedFields, edits: readonly BodyEdit[], phase: Phase): GuardedFields {
  const made = phase === 'input' ? edits.filter((edit) => !isOfName(edit)) : edits
  const ofNames = made.filter(({ path }) => path.at(-1) === nameStep)
  const ofValues = made.filter(({ path }) => path.at(-1) !== nameStep)
  const edited = parseExact(editJson(exactJson(json), ofValues))
  const renamed = ofNames.length === 0 ? edited : withNames(edited, treeOf(ofNames))
  if (!isFields(renamed)) throw new Error('The changed value is no object.')
  return guardedFields(renamed, phase)
}

/** New names of the members of a value, and of those within them. */
interface NameTree {
  readonly names: Map<string, string>
  readonly within: Map<string, NameTree>
}

const emptyTree = (): NameTree => ({ names: new Map(), within: new Map() })

function treeOf(edits: readonly BodyEdit[]): NameTree {
  const root = emptyTree()
  for (const { path, value } of edits) {
    const steps: JsonPath = path.slice(0, -2)
    let node = root
    for (const step of steps) {
      const next = node.within.get(String(step)) ?? emptyTree()
      node.within.set(String(step), next)
      node = next
    }
    node.names.set(String(path.at(-2)), String(value))
  }
  return root
}

function withNames(value: unknown, tree: NameTree): unknown {
  const below = (step: string, child: unknown): unknown => {
    const next = tree.within.get(step)
    return next === undefined ? child : withNames(child, next)
  }
  if (Array.isArray(value)) return value.map((item, at) => below(String(at), item))
  if (!isFields(value)) return value
  const renamed: Record<string, unknown> = {}
  const counts = new Map<string, number>()
  for (const [name, child] of Object.entries(value)) {
    const own = freeName(tree.names.get(name) ?? name, renamed, counts)
    Object.defineProperty(renamed, own, { value: below(name, child), enumerable: true, configurable: true, writable: true })
  }
  return renamed
}

/** Two names may become the same text; neither value takes the place of the other. `counts`: the last number of each, so that none is tried twice. */
function freeName(wanted: string, taken: Fields, counts: Map<string, number>): string {
  if (!Object.hasOwn(taken, wanted)) return wanted
  let count = (counts.get(wanted) ?? 1) + 1
  while (Object.hasOwn(taken, `${wanted} ${count}`)) count += 1
  counts.set(wanted, count)
  return `${wanted} ${count}`
}
