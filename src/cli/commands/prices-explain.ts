import type { BuiltInPrices } from '../../app/prices/built-in.ts'
import type { Command } from 'commander'
import type { ConditionalRates, PricePeriod, Rates } from '../../gateway/ports/prices.ts'
import { answer } from '../answer.ts'
import { explain } from '../command-help.ts'
import { CommandError } from '../failure.ts'

interface Options {
  readonly lists?: string
  readonly json?: true
}

/** `gatehouse prices explain`. */
export function addExplainPrice(prices: Command): void {
  const command = prices
    .command('explain')
    .description('Explains how the price of a model is found: the names that are tried, the list that has one, and every rate.')
    .argument('<provider>', 'a provider of the catalogue, such as openai')
    .argument('<model>', 'the model as the provider names it')
    .option('--lists <folder>', 'a folder of lists that goes before the catalogue; by default MODEL_CONFIGS_PRICING_LOCAL_PATH')
    .option('--json', '{ provider, model, tried, found, source, catalogue, prices }')
    .action(async (provider: string, model: string, { lists, json }: Options) => {
      const found = await lookUp(provider, model, lists)
      answer(json, found, toText(found))
      if (found.found === null) throw new CommandError(`no list has the price of ${model} of ${provider}: its requests are unpriced`)
    })
  explain(command, {
    example: 'gatehouse prices explain bedrock us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    exits: { 1: 'no list has the model' },
  })
}

interface PriceExplanation {
  readonly provider: string
  readonly model: string
  /** The names that were tried, in order. */
  readonly tried: readonly string[]
  readonly found: string | null
  readonly source: string | null
  readonly catalogue: string | null
  readonly as_of: string
  readonly geo: string | null
  readonly region: string | null
  readonly prices: readonly PricePeriod[]
}

async function lookUp(provider: string, model: string, given: string | undefined): Promise<PriceExplanation> {
  const { openBuiltIn } = await import('../../app/prices/built-in.ts')
  const { namesOf } = await import('../../gateway/ports/prices.ts')
  const { environment } = await import('../../config/index.ts')
  const folder = given ?? environment()['MODEL_CONFIGS_PRICING_LOCAL_PATH']
  const builtIn = openBuiltIn()
  const local = await openLists(folder, builtIn)
  const names = namesOf(provider, model)
  const tried = names.map((name) => `${name.provider}/${name.model}`)
  const base = { provider, model, as_of: builtIn.asOf, geo: names[0]?.geo ?? null, region: names[0]?.region ?? null }
  for (const [index, name] of names.entries()) {
    const lists = [
      { source: 'local', catalogue: null, list: local(name.provider) },
      { source: 'built_in', catalogue: builtIn.digest, list: builtIn.file(name.provider) },
    ]
    for (const { source, catalogue, list } of lists) {
      const entry = list === null ? null : list.find(name.model)
      if (entry === null || list === null) continue
      const found = { found: `${name.provider}/${name.model}`, source, catalogue: catalogue ?? list.digest, prices: entry.prices }
      return { ...base, ...found, tried: tried.slice(0, index + 1) }
    }
  }
  return { ...base, tried, found: null, source: null, catalogue: null, prices: [] }
}

/** Returns the lists of a provider in a folder. */
async function openLists(folder: string | undefined, known: Pick<BuiltInPrices, 'file'>) {
  const { existsSync, readFileSync } = await import('node:fs')
  const { readPriceList } = await import('../../app/prices/read-list.ts')
  return (provider: string) => {
    const file = folder === undefined ? null : `${folder}/${provider}.json`
    return file !== null && existsSync(file) ? readPriceList(readFileSync(file), provider, known) : null
  }
}

function toText({ tried, found, source, catalogue, as_of: asOf, geo, region, prices }: PriceExplanation): string {
  const place = [geo === null ? [] : [`geography ${geo}`], region === null ? [] : [`region ${region}`]].flat()
  return [
    `Tried: ${tried.length === 0 ? 'no name, because this one hides the model' : tried.join(', ')}.`,
    ...(place.length === 0 ? [] : [`The name tells: ${place.join(', ')}.`]),
    ...(found === null ? [] : [`Found: ${found} in the list ${source} (${catalogue}${source === 'built_in' ? `, as of ${asOf}` : ''}).`]),
    ...prices.flatMap(periodText),
  ].join('\n')
}

const periodText = ({ from = null, to = null, rates, when = [] }: PricePeriod): readonly string[] => [
  `${from ?? 'always'}${to === null ? '' : ` to ${to}`}:`,
  ...ratesText(rates, '  '),
  ...when.flatMap(conditionText),
]

function conditionText({ rates, ...condition }: ConditionalRates): readonly string[] {
  return [`  when ${JSON.stringify(condition)}:`].concat(ratesText(rates, '    '))
}

const ratesText = (rates: Rates, indent: string): readonly string[] =>
  Object.entries(rates).map(([name, rate]) => `${indent}${name.padEnd(24)} ${String(rate).padStart(16)} pico-US-dollars`)
