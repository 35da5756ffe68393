import { existsSync } from 'node:fs'
import path from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { answer } from '../answer.ts'
import { explain } from '../command-help.ts'
import { CommandError } from '../failure.ts'
import type { Comparison, RateChange } from '../prices/compare-rates.ts'
import { countOf, faultsOf, readable } from '../prices/sound.ts'

interface Options {
  readonly factor?: number
  readonly json?: true
}

/** `gatehouse prices check`: proves one catalogue, or compares two. */
export function addCheck(prices: Command): void {
  const command = prices
    .command('check')
    .description(
      'Proves that a catalogue or a folder of lists can be used: formats, units, dates and the digest. For two catalogues it lists which models came and went, and which rates changed by a factor.',
    )
    .argument('[before]', 'a folder of lists; by default the catalogue of the installation')
    .argument(
      '[after]',
      'what takes its place. Each can be a folder, one list, built-in, in-effect (with the lists of the settings), or the address of a service',
    )
    .option('--factor <number>', 'with two catalogues: from which factor on a change counts; by default 2', readFactor)
    .option('--json', '{ ok, models, providers, as_of, digest, faults }, or of two { ok, factor, added, removed, changed, units … }')
    .action(async (before: string | undefined, after: string | undefined, options: Options) => {
      if (before !== undefined && after !== undefined) await compareTwo([before, after], options)
      else await proveOne(before, options)
    })
  explain(command, {
    example: 'gatehouse prices check built-in catalogue --factor 2',
    exits: { 1: 'a list is broken or in another unit; of two: a rate changed by the factor or more, or a list is in another unit' },
  })
}

async function proveOne(given: string | undefined, { json, factor }: Options): Promise<void> {
  const { UsageError } = await import('../failure.ts')
  if (factor !== undefined) throw new UsageError('--factor is for two catalogues: name the one before and the one after')
  const { installedPrices } = await import('../prices/installed.ts')
  const report = await examine(given ?? installedPrices())
  answer(json, report, report.faults.length === 0 ? `${sumOf(report)}: nothing is wrong.` : report.faults.join('\n'))
  if (!report.ok) throw new CommandError(`${report.faults.length} faults: the lists cannot be used as they are`)
}

/** Examines a catalogue, or a folder of lists without an index. */
async function examine(folder: string) {
  const { digestOf, namedDigest, readCatalogue, readLists } = await import('../prices/catalogue-files.ts')
  const catalogue = existsSync(path.join(folder, 'index.json')) ? readable(folder, () => readCatalogue(folder)) : null
  const lists = catalogue?.providers ?? readable(folder, () => readLists(folder))
  const digest = catalogue === null ? null : digestOf(catalogue)
  const named = catalogue === null ? null : namedDigest(folder)
  const faults = [
    ...(named === digest ? [] : [`index.json: the digest is ${named}, and the lists have ${digest}`]),
    ...(await faultsOf(lists)),
  ]
  return { ok: faults.length === 0, models: countOf(lists), providers: lists.length, as_of: catalogue?.asOf ?? null, digest, faults }
}

const sumOf = ({ models, providers, as_of: asOf, digest }: Awaited<ReturnType<typeof examine>>): string =>
  `${models} models of ${providers} providers${digest === null ? '' : `, as of ${asOf}, digest ${digest}`}`

const usualFactor = 2

async function compareTwo([before, after]: readonly [string, string], { factor = usualFactor, json }: Options): Promise<void> {
  const { openPrices } = await import('../prices/open-prices.ts')
  const { compareRates } = await import('../prices/compare-rates.ts')
  const [old, young] = [await openPrices(before), await openPrices(after)]
  const found = compareRates(old, young, { factor, today: new Date().toISOString().slice(0, 10) })
  const ok = found.changed.length === 0 && found.units.length === 0
  answer(json, { ok, factor, models: { before: countOf(old), after: countOf(young) }, ...found }, textOf(found, factor))
  if (!ok)
    throw new CommandError(
      `${found.changed.length} rates changed by a factor of ${factor} or more, ${found.units.length} lists are in another unit`,
    )
}

function textOf(found: Comparison, factor: number): string {
  const { added, removed, changed, units, smaller } = found
  return [
    ...added.map((model) => `added    ${model}`),
    ...removed.map((model) => `removed  ${model}`),
    ...units.map((unit) => `unit     ${unit}`),
    ...changed.map(changeText),
    `${added.length} models added, ${removed.length} removed; ${changed.length} rates changed by a factor of ${factor} or more, ${smaller} by less; ${found.rates_added} rates added and ${found.rates_removed} removed in models that both have; ${units.length} lists in another unit.`,
  ].join('\n')
}

function changeText({ provider, model, dimension, condition, from, before, after, factor }: RateChange): string {
  const when = Object.keys(condition).length === 0 ? '' : ` when ${JSON.stringify(condition)}`
  const day = from === null ? '' : ` from ${from}`
  return `changed  ${provider}/${model} ${dimension}${when}${day}: ${before} -> ${after} pico-US-dollars${factor === null ? '' : ` (${after > before ? 'x' : '/'} ${factor})`}`
}

function readFactor(text: string): number {
  const factor = Number(text)
  if (text.trim() === '' || !Number.isFinite(factor) || factor < 1)
    throw new InvalidArgumentError('a factor is a number from 1 on, such as 1.5.')
  return factor
}
