import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Fields, isFields } from '../../lib/json/fields.ts'

/** The models of one provider, as a list has them. */
export interface ListedProvider {
  readonly provider: string
  readonly models: Readonly<Record<string, Fields>>
}

/** A whole catalogue: what `assets/prices` holds. */
export interface Catalogue {
  readonly asOf: string
  readonly providers: readonly ListedProvider[]
  /** How each provider sells: fields of the index. */
  readonly facts: Readonly<Record<string, Fields>>
}

/** The fields of a model that the product reads. Where a figure came from is for those who make the catalogue. */
const kept = ['kind', 'prices', 'uplift', 'free', 'limits', 'in', 'out', 'can', 'deprecated', 'confidence']
const keptFacts = ['mode_default', 'billing', 'note', 'title']

/** Files of a catalogue's folder that are no list of a provider. */
const others: ReadonlySet<string> = new Set(['index.json', 'dimensions.json'])

/** Reads a catalogue from its folder. Throws on a file that is none. */
export function readCatalogue(folder: string): Catalogue {
  const index = readJson(path.join(folder, 'index.json'))
  const asOf = index['as_of']
  if (typeof asOf !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(asOf)) throw new Error(`${folder}/index.json: as_of is no date`)
  const files = readdirSync(folder).filter((name) => name.endsWith('.json') && !others.has(name))
  return {
    asOf,
    facts: recordOf(index['providers']),
    providers: files.toSorted().map((name) => toProvider(name, readJson(path.join(folder, name)))),
  }
}

function toProvider(file: string, list: Fields): ListedProvider {
  const provider = file.slice(0, -'.json'.length)
  if (list['schema'] !== 1 || list['unit'] !== 'pUSD') throw new Error(`${file}: no price list in pico-US-dollars (schema 1, unit pUSD)`)
  if (list['provider'] !== provider) throw new Error(`${file}: the list is of ${String(list['provider'])}`)
  return { provider, models: recordOf(list['models']) }
}

/** Writes a catalogue into a folder, one model a line. The same catalogue gives the same bytes. Returns its digest. */
export function writeCatalogue(folder: string, { asOf, providers, facts }: Catalogue): string {
  mkdirSync(folder, { recursive: true })
  const digest = createHash('sha256')
  const counts = new Map(providers.map(({ provider, models }) => [provider, Object.keys(models).length]))
  for (const list of providers.toSorted((one, other) => (one.provider < other.provider ? -1 : 1))) {
    const text = listText(list, asOf)
    digest.update(`${list.provider}\n${text}`)
    writeFileSync(path.join(folder, `${list.provider}.json`), text)
  }
  const names = [...new Set([...Object.keys(facts), ...counts.keys()])].toSorted()
  const index = {
    schema: 1,
    as_of: asOf,
    currency: 'USD',
    unit: 'pUSD',
    digest: digest.digest('hex').slice(0, 16),
    providers: Object.fromEntries(names.map((name) => [name, { models: counts.get(name) ?? 0, ...only(facts[name] ?? {}, keptFacts) }])),
  }
  writeFileSync(path.join(folder, 'index.json'), `${JSON.stringify(index, null, 1)}\n`)
  return index.digest
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
