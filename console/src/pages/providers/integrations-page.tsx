import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useList, type Item } from '../../api/list.ts'
import { Aside } from '../../parts/aside.tsx'
import type { Column } from '../../parts/data-grid.tsx'
import { Facts } from '../../parts/facts.tsx'
import { ListGrid } from '../../parts/list-grid.tsx'
import { Page } from '../../parts/page.tsx'
import { SearchBox } from '../../parts/search-box.tsx'
import { State } from '../../parts/state.tsx'
import { lifeOf, Status } from '../../parts/status.tsx'
import { TimeOf } from '../../parts/time-of.tsx'
import { useAddress } from '../../shell/address.ts'
import { may, useScope, type Scope } from '../../shell/scope.ts'
import { AddIntegration } from './add-integration.tsx'
import { StoredTest } from './integration-overview.tsx'

type Account = Item<'GET /integrations'>

const columns: readonly Column<Account>[] = [
  { id: 'name', label: 'Name', width: 220, cell: (row) => row.name },
  { id: 'slug', label: 'Slug', width: 180, cell: (row) => row.slug },
  { id: 'provider', label: 'Provider', width: 160, cell: (row) => row.ai_provider_id },
  { id: 'status', label: 'Status', width: 110, cell: (row) => <Status {...lifeOf(row.status)} /> },
  { id: 'belongs', label: 'Belongs to', width: 140, cell: (row) => row.type },
  { id: 'made', label: 'Made', width: 220, cell: (row) => <TimeOf iso={row.created_at} /> },
]

/** Lists the accounts at providers. */
export function IntegrationsPage() {
  const scope = useScope()
  return scope === null ? null : <Integrations scope={scope} />
}

function Integrations({ scope }: { readonly scope: Scope }) {
  const [search, change] = useAddress()
  const [isAdding, setAdding] = useState(false)
  const text = search['q'] ?? ''
  const list = useList('GET /integrations', { query: { search: text, type: 'all' }, workspace: scope.workspace })
  const opened = list.rows?.find(({ slug }) => slug === search['open'])
  const mayAdd = may(scope, 'organisation_integrations.create')
  return (
    <Page
      title="Integrations"
      tools={
        <Button disabled={!mayAdd} onClick={() => setAdding(true)}>
          Add integration
        </Button>
      }
    >
      {!mayAdd && <p className="hint">To add one you need organisation_integrations.create, which you do not have. Ask an owner.</p>}
      <SearchBox text={text} onChange={(q) => change({ q }, { replace: true })} />
      <div className={opened === undefined ? 'beside single' : 'beside'}>
        <div>
          <ListGrid
            label="Integrations"
            list={list}
            columns={columns}
            idOf={({ id }) => id}
            rowHeight={40}
            selected={opened?.id ?? null}
            onOpen={({ slug }) => change({ open: slug }, { replace: opened !== undefined })}
            empty={
              <State title={text === '' ? 'No integrations yet.' : 'Nothing matches.'}>
                <p>
                  {text === ''
                    ? 'An integration is an account at a provider, which workspaces use through Gatehouse.'
                    : 'No integration has this in its name.'}
                </p>
              </State>
            }
          />
        </div>
        {opened !== undefined && <AccountPanel key={opened.id} account={opened} scope={scope} onClose={() => change({ open: '' })} />}
      </div>
      {isAdding && (
        <AddIntegration
          scope={scope}
          onCancel={() => setAdding(false)}
          onSaved={(slug) => {
            setAdding(false)
            change({ open: slug })
          }}
        />
      )}
    </Page>
  )
}

interface AccountPanelProps {
  readonly account: Account
  readonly scope: Scope
  readonly onClose: () => void
}

const AccountPanel = ({ account, scope, onClose }: AccountPanelProps) => (
  <Aside
    label="Integration"
    head={
      <>
        <strong className="text-of-data">{account.name}</strong>
        <Link to={`/org/integrations/${account.slug}` as never}>Open as page</Link>
      </>
    }
    onClose={onClose}
  >
    <Facts
      facts={[
        ['Slug', account.slug],
        ['Provider', account.ai_provider_id],
        ['Description', account.description],
        ['Made', <TimeOf key="made" iso={account.created_at} />],
      ]}
    />
    <StoredTest account={account} scope={scope} />
  </Aside>
)
