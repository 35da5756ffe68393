import { Button } from '@mantine/core'
import { useMemo, useState } from 'react'
import { count, shortMoney } from '../../api/figures.ts'
import { useList, type Item } from '../../api/list.ts'
import type { Column } from '../../parts/data-grid.tsx'
import { ListGrid } from '../../parts/list-grid.tsx'
import { SearchBox } from '../../parts/search-box.tsx'
import { State } from '../../parts/state.tsx'
import type { Scope } from '../../shell/scope.ts'
import { ExplainPrice } from './explain-price.tsx'

type Offered = Item<'GET /catalogue/models'>

interface OfferedModelsProps {
  readonly scope: Scope
  /** The handle of one provider; absent: all of the workspace. */
  readonly provider?: string
}

/** The models that a workspace may use, with their prices and abilities. */
export function OfferedModels({ scope, provider }: OfferedModelsProps) {
  const [text, setText] = useState('')
  const [explained, setExplained] = useState<Offered | null>(null)
  const list = useList('GET /catalogue/models', {
    query: { workspace_id: scope.slug, search: text, ...(provider !== undefined && { provider }) },
    workspace: scope.workspace,
  })
  const columns = useMemo(() => columnsOf(setExplained), [])
  return (
    <>
      <SearchBox text={text} onChange={setText} />
      <ListGrid
        label="Models"
        list={list}
        columns={columns}
        idOf={({ id }) => id}
        rowHeight={44}
        empty={
          <State title={text === '' ? 'No models yet.' : 'Nothing matches.'}>
            <p>{text === '' ? 'No provider of this workspace lists a model.' : 'No model has this in its name.'}</p>
          </State>
        }
      />
      <ExplainPrice
        provider={explained?.ai_provider_id ?? ''}
        model={explained === null ? null : bareName(explained)}
        workspace={scope.workspace}
        onClose={() => setExplained(null)}
      />
    </>
  )
}

/** Returns the name of a model as its provider has it: without the handle. */
const bareName = ({ id }: Offered): string => id.replace(/^@[^/]+\//, '')

/** A dollar in pico-dollars. */
const picoOfDollar = 1_000_000_000_000

/** Returns a price of the list, dollars for a million tokens. */
function priceOf({ pricing }: Offered, ...names: readonly string[]): string {
  if (pricing === null || pricing === undefined) return '? Unpriced'
  const price = names.map((name) => pricing.per_million_tokens[name]).find((one) => one !== undefined)
  return price === undefined ? '–' : shortMoney(String(BigInt(Math.round(price * 1e6)) * BigInt(picoOfDollar / 1e6)))
}

const columnsOf = (explain: (model: Offered) => void): readonly Column<Offered>[] => [
  { id: 'id', label: 'Model', width: 280, cell: ({ id }) => id },
  { id: 'kind', label: 'Kind', width: 100, cell: ({ kind }) => kind ?? '–' },
  { id: 'context', label: 'Context', width: 90, end: true, cell: ({ context_window: size }) => (size === null ? '?' : count(size)) },
  { id: 'input', label: 'Input a million', width: 120, end: true, cell: (row) => priceOf(row, 'input', 'request_token') },
  { id: 'output', label: 'Output a million', width: 120, end: true, cell: (row) => priceOf(row, 'output', 'response_token') },
  { id: 'abilities', label: 'Abilities', width: 260, cell: ({ capabilities }) => (capabilities ?? []).join(', ') },
  {
    id: 'explain',
    label: 'Actions',
    width: 130,
    cell: (row) => (
      <Button variant="default" aria-label={`Explain price of ${row.id}`} onClick={() => explain(row)}>
        Explain price
      </Button>
    ),
  },
]
