import { importers } from '../../src/cli/prices/importers.ts'
import type { ListedProvider } from '../../src/cli/prices/catalogue-files.ts'
import { type Fields, isFields } from '../../src/lib/json/fields.ts'
import { readPython } from './read-python.ts'

/** Reads the text of a file in the form in which a package ships it. */
export function readPublicList(format: string, text: string): readonly ListedProvider[] {
  const convert = forms[format]
  const importer = importers[convert?.format ?? format]
  if (importer === undefined) throw new Error(`the format ${format} is not known`)
  return importer(convert === undefined ? text : convert.toText(text), null)
}

interface Form {
  /** The public format that it becomes. */
  readonly format: string
  readonly toText: (text: string) => string
}

const forms: Readonly<Record<string, Form>> = {
  /** The module `data.py` of the Python package has the prices of `data.json` as calls. */
  'genai-prices-python': { format: 'genai-prices', toText: (text) => JSON.stringify(readPython(text, 'providers')) },
  /** `snapshot.json` of model-prices has the prices of models.dev with their days. */
  'model-prices': { format: 'models-dev', toText: (text) => JSON.stringify(lastPrices(JSON.parse(text))) },
}

function lastPrices(snapshot: unknown): Fields {
  const providers = isFields(snapshot) && isFields(snapshot['prices']) ? snapshot['prices'] : {}
  return Object.fromEntries(
    Object.entries(providers).map(([provider, models]) => [
      provider,
      {
        models: Object.fromEntries(Object.entries(isFields(models) ? models : {}).map(([name, modes]) => [name, { cost: lastOf(modes) }])),
      },
    ]),
  )
}

function lastOf(modes: unknown): unknown {
  const standard: unknown = isFields(modes) && Array.isArray(modes['standard']) ? modes['standard'].at(-1) : null
  return isFields(standard) ? standard['rates'] : null
}
