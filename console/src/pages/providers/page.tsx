import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { distance } from '../../api/figures.ts'
import { useList, type Item } from '../../api/list.ts'
import type { Column } from '../../parts/data-grid.tsx'
import { ListGrid } from '../../parts/list-grid.tsx'
import { Page } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { SearchBox } from '../../parts/search-box.tsx'
import { State } from '../../parts/state.tsx'
import { lifeOf, Status } from '../../parts/status.tsx'
import { useAddress } from '../../shell/address.ts'
import { scopePath } from '../../shell/places.ts'
import { may, useScope, type Scope } from '../../shell/scope.ts'
import { AddIntegration } from './add-integration.tsx'
import { OfferedModels } from './offered-models.tsx'

type Provider = Item<'GET /providers'>

const columns: readonly Column<Provider>[] = [
  { id: 'name', label: 'Name', width: 220, cell: (row) => row.name },
  { id: 'handle', label: 'Handle', width: 200, cell: (row) => `@${row.slug}` },
  { id: 'status', label: 'Status', width: 110, cell: (row) => <Status {...lifeOf(row.status)} /> },
  { id: 'used', label: 'Last used', width: 120, cell: (row) => (row.last_used_at ? distance(row.last_used_at) : 'never') },
  { id: 'expires', label: 'Expires', width: 120, cell: (row) => (row.expires_at === null ? '–' : distance(row.expires_at)) },
  { id: 'note', label: 'Note', width: 240, cell: (row) => row.note ?? '' },
]

/** Lists the providers that a workspace may use, by the handles that requests name. */
export function ProvidersPage() {
  const scope = useScope()
  return scope === null ? null : <Providers key={scope.slug} scope={scope} />
}

function Providers({ scope }: { readonly scope: Scope }) {
  const [isAdding, setAdding] = useState(false)
  const mayAdd = may(scope, 'workspace_integrations.create')
  return (
    <Page
      title="Providers"
      tools={
        <Button disabled={!mayAdd} onClick={() => setAdding(true)}>
          Add integration
        </Button>
      }
    >
      {!mayAdd && <p className="hint">To add one you need workspace_integrations.create, which you do not have here. Ask an admin.</p>}
      <PageTabs
        label="Providers"
        tabs={[
          ['providers', 'Providers', () => <ProviderList scope={scope} />],
          ['models', 'Models', () => <OfferedModels scope={scope} />],
        ]}
      />
      {isAdding && <AddIntegration scope={scope} onCancel={() => setAdding(false)} onSaved={() => setAdding(false)} />}
    </Page>
  )
}

/** The handles of a workspace; a row opens as a page. */
function ProviderList({ scope }: { readonly scope: Scope }) {
  const [search, change] = useAddress()
  const navigate = useNavigate()
  const text = search['q'] ?? ''
  const list = useList('GET /providers', { query: { search: text, workspace_id: scope.slug }, workspace: scope.workspace })
  return (
    <>
      <SearchBox text={text} onChange={(q) => change({ q }, { replace: true })} />
      <ListGrid
        label="Providers"
        list={list}
        columns={columns}
        idOf={({ id }) => id}
        rowHeight={40}
        onOpen={({ slug }) => void navigate({ to: `${scopePath(scope)}/providers/${slug}` as never })}
        empty={
          <State title={text === '' ? 'No providers yet.' : 'Nothing matches.'}>
            <p>
              {text === ''
                ? 'A provider is an account at a vendor of models. Requests name it by its handle: @handle/model.'
                : 'No provider has this in its name.'}
            </p>
          </State>
        }
      />
    </>
  )
}
