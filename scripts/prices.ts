import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { catalogueFaults } from '../src/cli/prices/check-catalogue.ts'
import { type Catalogue, digestOf, type ListedProvider, readCatalogue, writeCatalogue } from '../src/cli/prices/catalogue-files.ts'
import { elect, type Source } from '../src/cli/prices/elect.ts'
import { withHistory } from './prices/history.ts'
import { splitNews, withResold } from './prices/news.ts'
import { type Override, withOverrides } from './prices/overrides.ts'
import { readPublicList } from './prices/public-lists.ts'

interface Recipe {
  /** The day of the catalogue. */
  readonly as_of: string
  /** The catalogue of before. */
  readonly former: { readonly as_of: string; readonly digest: string; readonly commit: string }
  readonly lists: readonly ListFile[]
  /** Providers that the catalogue of before did not have. */
  readonly added_providers: readonly string[]
}

interface ListFile {
  readonly name: string
  readonly version: string
  /** The day on which it was the newest. */
  readonly date: string
  /** The place of a list: a package, and the file in it. */
  readonly from: string
  readonly file: string
  readonly format: string
  readonly sha256: string
  /** The version of the former catalogue: later changes of a list are as old as that one. */
  readonly earlier?: Pick<ListFile, 'version' | 'date' | 'file' | 'sha256'>
  /** Providers that sell models of others at the same price, for models that they are known to sell. */
  readonly resold?: Readonly<Record<string, readonly string[]>>
}

const usage = `Builds assets/prices of public lists. It needs no network: fetch the files that scripts/prices/recipe.json names first.

  npm run prices:build -- --lists <folder> --former <folder> [--check]

  --lists   the folder with the files of the recipe, under the names that it gives them
  --former  the catalogue of before: assets/prices at the commit that the recipe names
  --check   build elsewhere, and say whether assets/prices is the same
`

const { values } = parseArgs({
  options: { lists: { type: 'string' }, former: { type: 'string' }, check: { type: 'boolean' } },
})
const catalogueFolder = path.resolve(import.meta.dirname, '../assets/prices')
const recipe: Recipe = JSON.parse(readFileSync(path.join(import.meta.dirname, 'prices/recipe.json'), 'utf8'))
const overrides: readonly Override[] = JSON.parse(readFileSync(path.join(import.meta.dirname, 'prices/overrides.json'), 'utf8'))

if (values.lists === undefined || values.former === undefined) {
  process.stderr.write(usage)
  process.exitCode = 2
} else {
  const catalogue = build(values.lists, values.former)
  const faults = catalogueFaults(catalogue.providers, readCatalogue(values.former))
  for (const fault of faults) process.stderr.write(`${fault}\n`)
  if (faults.length > 0) process.exitCode = 1
  else if (values.check === true) compare(catalogue)
  else process.stdout.write(`assets/prices: digest ${writeCatalogue(catalogueFolder, catalogue)}\n`)
}

function build(folder: string, formerFolder: string): Catalogue {
  const former = readCatalogue(formerFolder)
  demand(`the catalogue of before in ${formerFolder}`, digestOf(former), recipe.former.digest)
  const known = new Set([
    ...Object.entries(former.facts).flatMap(([id, { billing }]) => (billing === undefined ? [id] : [])),
    ...recipe.added_providers,
  ])
  const read = recipe.lists.map((list) => ({
    list,
    now: withResold(readList(list, list.format, folder), list.resold ?? {}, former.providers),
  }))
  const named = new Map([['former', former.providers], ...read.map(({ list, now }) => [list.name, now] as const)])
  const sources = read
    .flatMap(({ list, now }) => sourcesOf(list, now, folder))
    .map(({ asOf, lists }) => ({ asOf, lists: lists.filter(({ provider }) => known.has(provider)) }))
  const elected = elect([{ asOf: former.asOf, lists: former.providers, former: true }, ...sources], recipe.as_of)
  const wrong = new Set(
    overrides.flatMap(({ provider, models, wasNeverTrue }) =>
      wasNeverTrue ? models.map((model) => `${provider}\n${model.toLowerCase()}`) : [],
    ),
  )
  const providers = withHistory(former.providers, withOverrides(elected, overrides, named), {
    day: recipe.as_of,
    wasNeverTrue: (provider, model) => wrong.has(`${provider}\n${model.toLowerCase()}`),
  })
  const lists = recipe.lists.map(({ name, version, date, sha256 }) => ({ name, version, date, sha256 }))
  return { asOf: recipe.as_of, facts: former.facts, providers, lists }
}

/** A word that a list has repeated since the version before is as old as that version. */
function sourcesOf(list: ListFile, now: readonly ListedProvider[], folder: string): readonly Source[] {
  if (list.earlier === undefined) return [{ asOf: list.date, lists: now }]
  const { repeated, news } = splitNews(readList(list.earlier, list.format, folder), now)
  return [
    { asOf: list.earlier.date, lists: repeated },
    { asOf: list.date, lists: news },
  ]
}

function readList({ file, sha256 }: Pick<ListFile, 'file' | 'sha256'>, format: string, folder: string): readonly ListedProvider[] {
  const text = readFileSync(path.join(folder, file), 'utf8')
  demand(file, createHash('sha256').update(text).digest('hex'), sha256)
  return readPublicList(format, text)
}

function demand(what: string, found: string, wanted: string): void {
  if (found !== wanted) throw new Error(`${what} is another one than the recipe names: ${found} for ${wanted}`)
}

function compare(catalogue: Catalogue): void {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-prices-'))
  try {
    writeCatalogue(folder, catalogue)
    const differing = readdirSync(folder).filter(
      (file) => readFileSync(path.join(folder, file), 'utf8') !== textOf(path.join(catalogueFolder, file)),
    )
    process.stdout.write(
      differing.length === 0 ? 'assets/prices is what the recipe makes.\n' : `assets/prices differs: ${differing.join(', ')}\n`,
    )
    if (differing.length > 0) process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
