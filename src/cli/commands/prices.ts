import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { InvalidArgumentError, type Command } from 'commander'
import { answer } from '../answer.ts'
import { explain } from '../command-help.ts'
import { CommandError, UsageError } from '../failure.ts'
import type { ListedProvider } from '../prices/catalogue-files.ts'
import type { Difference } from '../prices/compare-catalogues.ts'
import { installedPrices } from '../prices/installed.ts'
import { countOf, faultsOf, readable } from '../prices/sound.ts'
import { addCheck } from './prices-check.ts'
import { addExplainPrice } from './prices-explain.ts'

interface Lists {
  readonly out: string
  readonly asOf: string
}

interface ImportOptions extends Lists {
  readonly provider?: string
}

interface BuildOptions extends Lists {
  readonly base?: string
  readonly with: readonly string[]
  readonly vote?: true
}

const formats = ['ours', 'cents', 'litellm', 'models-dev', 'genai-prices'] as const

/** `gatehouse prices`. */
export function addPrices(program: Command): void {
  const prices = explain(program.command('prices').description('Makes, checks, compares and explains price lists. Needs no network.'), {
    example: 'gatehouse prices check',
  })
  addImport(prices)
  addBuild(prices)
  addCheck(prices)
  addDiff(prices)
  addExplainPrice(prices)
}

function addImport(prices: Command): void {
  const command = prices
    .command('import')
    .description(
      'Turns a file in a public format into lists for MODEL_CONFIGS_PRICING_LOCAL_PATH. A file whose unit is another is refused.',
    )
    .argument('<format>', formats.join(', '))
    .argument('<file>', 'the file')
    .requiredOption('--out <folder>', 'where the lists go, one file for each provider')
    .option('--provider <id>', 'the provider of a file that is of one alone (ours, cents)')
    .option('--as-of <date>', 'the day of the file; by default today', readDate, today())
    .action(async (format: string, file: string, { out, provider, asOf }: ImportOptions) => {
      const { importers } = await import('../prices/importers.ts')
      const { writeLists } = await import('../prices/catalogue-files.ts')
      const read = Object.hasOwn(importers, format) ? importers[format] : undefined
      if (read === undefined) throw new UsageError(`the format ${format} is not known: write one of ${formats.join(', ')}`)
      const lists = readable(file, () => read(readFileSync(file, 'utf8'), provider ?? null))
      await demandSound(lists)
      writeLists(out, lists, asOf)
      console.log(`${countOf(lists)} models of ${lists.length} providers are in ${out}.`)
    })
  explain(command, {
    example: 'gatehouse prices import litellm model_prices_and_context_window.json --out prices',
    exits: { 1: 'the file is of another format or unit, or cannot be written' },
  })
}

function addBuild(prices: Command): void {
  const command = prices
    .command('build')
    .description('Makes a whole catalogue: that of the installation with newer lists over it, with its date and its digest.')
    .requiredOption('--with <folder...>', 'folders of lists; the last that has a model wins')
    .requiredOption('--out <folder>', 'where the catalogue goes')
    .option('--base <folder>', 'the catalogue to begin with; by default that of the installation')
    .option(
      '--vote',
      'between these folders the majority wins, within 1 %; a folder loses half of its weight in 30 days, and between equals the last wins',
    )
    .option('--as-of <date>', 'the day of the catalogue; by default today', readDate, today())
    .action(async ({ base, with: over, out, asOf, vote }: BuildOptions) => {
      const { readCatalogue, readLists, writeCatalogue } = await import('../prices/catalogue-files.ts')
      const { overlaid } = await import('../prices/compare-catalogues.ts')
      const begun = readCatalogue(base ?? installedPrices())
      const lists = over.map((folder) => readable(folder, () => readLists(folder)))
      const layers =
        vote === true
          ? [
              (await import('../prices/elect.ts')).elect(
                lists.map((one) => ({ asOf: dayOf(one) ?? asOf, lists: one })),
                asOf,
              ),
            ]
          : lists
      const providers = layers.reduce(overlaid, begun.providers)
      await demandSound(providers)
      const digest = writeCatalogue(out, { asOf, providers, facts: begun.facts })
      console.log(`${countOf(providers)} models of ${providers.length} providers, as of ${asOf}, digest ${digest}, are in ${out}.`)
    })
  explain(command, {
    example: 'gatehouse prices build --with prices --out catalogue --as-of 2026-12-01',
    exits: { 1: 'a list is broken or in another unit, or cannot be written' },
  })
}

function addDiff(prices: Command): void {
  const command = prices
    .command('diff')
    .description(
      'Lists the models whose prices differ between two folders of lists, or the changes that one makes to the catalogue of the installation.',
    )
    .argument('<folder>', 'a catalogue, or lists that go before that of the installation; if another is named: how it was before')
    .argument('[after]', 'a folder')
    .option('--json', 'the differences, as an array of { provider, model, kind, before, after }')
    .action(async (folder: string, after: string | undefined, { json }: { json?: true }) => {
      const { readLists } = await import('../prices/catalogue-files.ts')
      const { differencesOf } = await import('../prices/compare-catalogues.ts')
      const lists = readable(folder, () => readLists(folder))
      const found =
        after === undefined
          ? await changesBy(folder, lists)
          : differencesOf(
              lists,
              readable(after, () => readLists(after)),
            )
      const lines = found.map(({ provider, model, kind, before: old, after: young }) =>
        [`${kind.padEnd(7)} ${provider}/${model}`, ...(kind === 'changed' ? [`  - ${old}`, `  + ${young}`] : [])].join('\n'),
      )
      answer(json, found, lines.length === 0 ? 'They have the same prices.' : lines.join('\n'))
    })
  explain(command, { example: 'gatehouse prices diff old-catalogue new-catalogue', exits: { 1: 'a folder has no lists' } })
}

/** Returns the changes that lists make to the catalogue of the installation: a whole catalogue takes its place, others go over it. */
async function changesBy(folder: string, lists: readonly ListedProvider[]): Promise<readonly Difference[]> {
  const { readLists } = await import('../prices/catalogue-files.ts')
  const { differencesOf, overlaid } = await import('../prices/compare-catalogues.ts')
  const base = readLists(installedPrices())
  return differencesOf(base, existsSync(path.join(folder, 'index.json')) ? lists : overlaid(base, lists))
}

/** Returns the day of the newest of lists; null: none names one. */
const dayOf = (lists: readonly ListedProvider[]): string | null =>
  lists
    .flatMap(({ asOf }) => asOf ?? [])
    .toSorted()
    .at(-1) ?? null

/** Throws when the lists cannot be used. Units are compared with the catalogue of the installation. */
async function demandSound(lists: readonly ListedProvider[]): Promise<void> {
  const faults = await faultsOf(lists)
  if (lists.length === 0) throw new CommandError('the file has no model with a price')
  if (faults.length > 0) throw new CommandError(`nothing is written: ${faults.slice(0, shownFaults).join('; ')}`)
}

const shownFaults = 5

const today = (): string => new Date().toISOString().slice(0, 10)

function readDate(text: string): string {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(Date.parse(text))) throw new InvalidArgumentError('a date is YYYY-MM-DD.')
  return text
}
