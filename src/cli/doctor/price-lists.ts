import type { ProcessQuestions } from '../ask-process.ts'
import { found, type Trouble } from './trouble.ts'

/** Compares the price lists that processes hold, and those of the workers of one. A process that does not answer, or not to every caller, is left out. */
export async function comparePriceLists(processes: readonly ProcessQuestions[]): Promise<readonly Trouble[]> {
  const held = await Promise.all(processes.map(async (one) => (await one.ask('/metrics'))?.text ?? ''))
  const lists = Map.groupBy(
    held.flatMap((text, at) => versionsIn(text).map((version) => Object.assign(version, { url: processes[at]?.url ?? '' }))),
    ({ list }) => list,
  )
  return [...lists].flatMap(([list, versions]) => {
    const places = Map.groupBy(versions, ({ digest }) => digest)
    if (places.size < 2) return []
    const told = [...places].map(([digest, ones]) => `${digest} at ${[...new Set(ones.map(({ url }) => url))].join(', ')}`)
    return [found('price-lists-differ', 'warning', `${list}: ${told.join('; ')}`)]
  })
}

interface Version {
  /** Its kind, its layer and its provider. */
  readonly list: string
  readonly digest: string
}

function versionsIn(text: string): readonly Version[] {
  return [...text.matchAll(/^gateway_price_list_info\{([^}]*)\}/gm)].map(([, labels = '']) => {
    const values = new Map([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]))
    return {
      list: ['kind', 'layer', 'provider'].map((name) => values.get(name) ?? '').join(' '),
      digest: values.get('digest') ?? '',
    }
  })
}
