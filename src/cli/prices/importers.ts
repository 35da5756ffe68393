import { readModels } from '../../app/prices/read-list.ts'
import type { ListedProvider } from './catalogue-files.ts'
import { ofGenaiPrices } from './import-genai-prices.ts'
import { ofLitellm } from './import-litellm.ts'
import { ofModelsDev } from './import-models-dev.ts'

/** Reads a file of one public format. `provider` is needed where the file is of one provider alone. */
export type Importer = (text: string, provider: string | null) => readonly ListedProvider[]

/** The public formats, by the names that the command takes. */
export const importers: Readonly<Record<string, Importer>> = {
  ours: ofOneProvider,
  cents: ofOneProvider,
  litellm: ofLitellm,
  'models-dev': ofModelsDev,
  'genai-prices': ofGenaiPrices,
}

/** Lists of one provider: in our format, and in US cents for one token. */
function ofOneProvider(text: string, provider: string | null): readonly ListedProvider[] {
  if (provider === null) throw new Error('the file is of one provider: name it with --provider')
  return [{ provider, models: readModels(Buffer.from(text)) }]
}
