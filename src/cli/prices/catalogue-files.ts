import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Fields, isFields } from '../../lib/json/fields.ts'

/** The models of one provider, as a list has them. */
export interface ListedProvider {
  readonly provider: string
  readonly models: Readonly<Record<string, Fields>>
  /** The day of the list, YYYY-MM-DD, where it names one. */
  readonly asOf?: string
}

/** A whole catalogue: the contents of `assets/prices`. */
export interface Catalogue {
  readonly asOf: string
  readonly providers: readonly ListedProvider[]
  /** How each provider sells: fields of the index. */
  readonly facts: Readonly<Record<string, Fields>>
  /** The lists that it was made of. */
  readonly lists?: readonly Fields[]
}

/** The fields of a model that the product reads. Where a figure came from is for those who make the catalogue. */
const kept = ['kind', 'prices', 'uplift', 'free', 'limits', 'in', 'out', 'can', 'deprecated', 'confidence']
const keptFacts = ['mode_default', 'billing', 'note', 'title']

/** Files of a catalogue's folder that are no list of a provider. */
const others: ReadonlySet<string> = new Set(['index.json', 'dimensions.json'])

/** Reads the lists of a folder, which need not be a whole catalogue. Throws on a file that is none. */
export const readLists = (folder: string): readonly ListedProvider[] =>
  listFiles(folder).map((name) => toProvider(name, readJson(path.join(folder, name))))

/** Returns the names of the files in a folder that are lists of a provider. */
export const listFiles = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.json') && !others.has(name))
    .toSorted()

/** Reads a catalogue from its folder. Throws on a file that is none. */
export function readCatalogue(folder: string): Catalogue {
  const index = readJson(path.join(folder, 'index.json'))
  const asOf = index['as_of']
  if (typeof asOf !== 'string' || !isDay(asOf)) throw new Error(`${folder}/index.json: as_of is no date`)
  return { asOf, facts: recordOf(index['providers']), providers: readLists(folder) }
}

const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

function toProvider(file: string, list: Fields): ListedProvider {
  const provider = file.slice(0, -'.json'.length)
  if (list['schema'] !== 1 || list['unit'] !== 'pUSD') throw new Error(`${file}: no price list in pico-US-dollars (schema 1, unit pUSD)`)
  if (list['provider'] !== provider) throw new Error(`${file}: the list is of ${String(list['provider'])}`)
  const { as_of: asOf } = list
  return { provider, models: recordOf(list['models']), ...(typeof asOf === 'string' && isDay(asOf) ? { asOf } : {}) }
}

/** Writes lists into a folder, without an index: a folder for a layer of prices. */
export function writeLists(folder: string, lists: readonly ListedProvider[], asOf: string): void {
  mkdirSync(folder, { recursive: true })
  for (const list of lists) writeWhole(path.join(folder, `${list.provider}.json`), listText(list, asOf))
}

/** Writes a file whole or not at all: a full disk leaves the former one. */
function writeWhole(file: string, text: string): void {
  const part = `${file}.part`
  try {
    writeFileSync(part, text)
    renameSync(part, file)
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
}

/** Writes a catalogue into a folder, one model a line. The same catalogue gives the same bytes. Returns its digest. */
export function writeCatalogue(folder: string, { asOf, providers, facts, lists }: Catalogue): string {
  mkdirSync(folder, { recursive: true })
  const digest = digestOf({ asOf, providers })
  const counts = new Map(providers.map(({ provider, models }) => [provider, Object.keys(models).length]))
  for (const list of inOrder(providers)) writeWhole(path.join(folder, `${list.provider}.json`), listText(list, asOf))
  const names = [...new Set([...Object.keys(facts), ...counts.keys()])].toSorted()
  const index = {
    schema: 1,
    as_of: asOf,
    currency: 'USD',
    unit: 'pUSD',
    digest,
    ...(lists === undefined ? {} : { lists }),
    providers: Object.fromEntries(names.map((name) => [name, { models: counts.get(name) ?? 0, ...only(facts[name] ?? {}, keptFacts) }])),
  }
  writeWhole(path.join(folder, 'index.json'), `${JSON.stringify(index, null, 1)}\n`)
  return digest
}

/** Returns the digest that the index of a catalogue names. */
export function digestOf({ asOf, providers }: Pick<Catalogue, 'asOf' | 'providers'>): string {
  const digest = createHash('sha256')
  for (const list of inOrder(providers)) digest.update(`${list.provider}\n${listText(list, asOf)}`)
  return digest.digest('hex').slice(0, 16)
}

const inOrder = (lists: readonly ListedProvider[]): readonly ListedProvider[] =>
  lists.toSorted((one, other) => (one.provider < other.provider ? -1 : 1))

/** Returns the digest that the index in a folder names; null: it names none. */
export function namedDigest(folder: string): string | null {
  const { digest } = readJson(path.join(folder, 'index.json'))
  return typeof digest === 'string' ? digest : null
}

/** Returns the text of one list: a line of facts, a line for each model, and the end. */
export function listText({ provider, models }: ListedProvider, asOf: string): string {
  const lines = Object.entries(models)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, model]) => `${JSON.stringify(name)}:${JSON.stringify(only(model, kept))}`)
  return `{"schema":1,"provider":${JSON.stringify(provider)},"currency":"USD","unit":"pUSD","as_of":"${asOf}","models":{\n${lines.join(',\n')}\n}}\n`
}

const only = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])))

function readJson(file: string): Fields {
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
  if (!isFields(value)) throw new Error(`${file}: no JSON object`)
  return value
}

function recordOf(value: unknown): Readonly<Record<string, Fields>> {
  if (!isFields(value)) return {}
  return Object.fromEntries(Object.entries(value).flatMap(([name, fields]) => (isFields(fields) ? [[name, fields]] : [])))
}
