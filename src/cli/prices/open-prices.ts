import { existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { proxySource } from '../../app/prices/layer-sources.ts'
import { readModels } from '../../app/prices/read-list.ts'
import { environment, loadProxies } from '../../config/index.ts'
import { entryFaults } from '../../gateway/ports/prices.ts'
import { parseAnswer } from '../../lib/json/json.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { UsageError } from '../failure.ts'
import { listFiles, type ListedProvider } from './catalogue-files.ts'
import { overlaid } from './compare-catalogues.ts'
import { installedPrices } from './installed.ts'
import { jsonFault, placeAt } from './json-fault.ts'

/** The names of catalogues that are no files: the one of the installation, and that with the lists of the settings over it. */
export const [builtIn, inEffect] = ['built-in', 'in-effect']

/**
 * Opens the prices that an argument names: `built-in`, `in-effect`, a folder of lists, one list, or the address of a service for prices. Throws
 * UsageError with the file, the line and the field of a list that cannot be read.
 */
export async function openPrices(named: string): Promise<readonly ListedProvider[]> {
  if (named === builtIn) return filesIn(installedPrices())
  if (named === inEffect) return pricesInEffect()
  if (/^https?:\/\//.test(named)) return listsAt(named)
  if (!existsSync(named))
    throw new UsageError(`${named}: there is no such file or folder; ${builtIn} and ${inEffect} stand for the prices of this installation`)
  return statSync(named).isDirectory() ? filesIn(named) : [listFrom(named, readFileSync(named, 'utf8'), path.basename(named, '.json'))]
}

function filesIn(folder: string): readonly ListedProvider[] {
  const files = listFiles(folder)
  if (files.length === 0) throw new UsageError(`${folder}: the folder has no price list`)
  return files.map((file) => listFrom(path.join(folder, file), readFileSync(path.join(folder, file), 'utf8'), path.basename(file, '.json')))
}

/** The lists that the settings name, in their order, over the catalogue of the installation. */
async function pricesInEffect(): Promise<readonly ListedProvider[]> {
  const given = environment()
  const base = filesIn(installedPrices())
  const inBucket = (given['LOG_STORE'] ?? 'none') !== 'none' && Boolean(given['MODEL_CONFIGS_PRICING_LOG_STORE_PATH'])
  if (inBucket) throw new UsageError(bucketAdvice)
  const folders = [given['MODEL_CONFIGS_PRICING_LOCAL_PATH'], given['MODEL_CONFIGS_PRICING_LOG_STORE_PATH']].flatMap(
    (folder) => folder || [],
  )
  const layers = folders.map((folder) => (existsSync(folder) ? filesIn(folder) : missing(folder)))
  const url = given['MODEL_CONFIGS_PROXY_URL']
  if (given['MODEL_CONFIGS_PROXY_FETCH_ENABLED']?.toUpperCase() === 'ON' && url !== undefined) layers.push(await listsAt(url))
  return layers.reduce(overlaid, base)
}

const bucketAdvice = `MODEL_CONFIGS_PRICING_LOG_STORE_PATH is a path in a bucket, which only running processes read: copy its lists into a folder, and name that in place of ${inEffect}`

function missing(folder: string): never {
  throw new UsageError(`${folder}: a setting names this folder for price lists, and it is not on this machine`)
}

/** Asks a service for the lists of all providers of the installation. */
async function listsAt(url: string): Promise<readonly ListedProvider[]> {
  const { createEgress } = await import('../../gateway/ports/egress-making.ts')
  const address = URL.parse(url)
  if (address === null) throw new UsageError(`${url}: this is no address`)
  const egress = createEgress({ trustedHosts: [address.host], proxies: loadProxies(environment()), connectTimeoutMs: 5000 })
  try {
    const source = proxySource(url, 'pricing', egress)
    const lists: ListedProvider[] = []
    for (const file of listFiles(installedPrices())) {
      const provider = path.basename(file, '.json')
      const bytes = await source.read(provider).catch((error: unknown) => {
        throw new UsageError(`${url}: the list of ${provider} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
      })
      if (bytes !== null) lists.push(listFrom(`${url}/pricing/${provider}`, bytes.toString('utf8'), provider))
    }
    if (lists.length === 0) throw new UsageError(`${url}: the service has no price list`)
    return lists
  } finally {
    await egress.close()
  }
}

/** Reads one list. Where it names its provider, that name counts. */
function listFrom(file: string, text: string, named: string): ListedProvider {
  const list = objectIn(file, text)
  const provider = typeof list['provider'] === 'string' ? list['provider'] : named
  const models = isFields(list['models']) && list['schema'] !== undefined ? list['models'] : {}
  for (const [model, entry] of Object.entries(models)) {
    const [fault] = entryFaults(entry)
    if (fault !== undefined) throw new UsageError(`${file}, line ${lineOf(text, model)}, ${model}: ${fault}`)
  }
  try {
    return { provider, models: readModels(Buffer.from(text)) }
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function objectIn(file: string, text: string): Fields {
  try {
    const value = parseAnswer(text)
    if (isFields(value)) return value
  } catch {
    const place = jsonFault(text)
    if (place !== null) throw new UsageError(`${file}, line ${place.line}, column ${place.column}: no JSON`)
  }
  throw new UsageError(`${file}: no JSON object, or one that is nested too deeply`)
}

function lineOf(text: string, model: string): number {
  const at = text.indexOf(`${JSON.stringify(model)}:`)
  return placeAt(text, at === -1 ? text.indexOf(JSON.stringify(model)) : at).line
}
