import { Button } from '@mantine/core'
import { useState } from 'react'
import { useList } from '../../api/list.ts'
import { ListGrid } from '../../parts/list-grid.tsx'
import { Page } from '../../parts/page.tsx'
import { SearchBox } from '../../parts/search-box.tsx'
import { State } from '../../parts/state.tsx'
import { useAddress } from '../../shell/address.ts'
import { useScope, type Scope } from '../../shell/scope.ts'
import { columns, type Key } from './columns.tsx'
import { CreateKey } from './create-key.tsx'
import type { NewSecret } from './key-actions.tsx'
import { KeyPanel } from './key-panel.tsx'
import { creatable } from './kinds.ts'
import { NewSecretDialog } from './new-secret.tsx'
import { texts } from './texts.ts'

/** Lists the keys: who calls, with which rights and bounds. */
export function KeysPage() {
  const scope = useScope()
  return scope === null ? null : <Keys key={scope.kind + scope.slug} scope={scope} />
}

const NoKeys = ({ text }: { readonly text: string }) => {
  const [title, about] = texts[text === '' ? 'empty' : 'nothing']
  return (
    <State title={title}>
      <p>{about}</p>
    </State>
  )
}

interface NewKeyProps {
  readonly scope: Scope
  readonly isCreating: boolean
  readonly onEnd: () => void
  readonly fresh: NewSecret | null
  readonly onSecret: (fresh: NewSecret | null) => void
}

/** The dialog for a new key, and the one that shows it once. */
const NewKey = ({ scope, isCreating, onEnd, fresh, onSecret }: NewKeyProps) => (
  <>
    {isCreating && (
      <CreateKey
        scope={scope}
        onClose={onEnd}
        onMade={(secret) => {
          onEnd()
          onSecret({ secret, until: null })
        }}
      />
    )}
    <NewSecretDialog fresh={fresh} onClose={() => onSecret(null)} />
  </>
)

/** Returns the keys of a scope: those of workspaces belong to their pages. */
const ofScope = (rows: readonly Key[] | undefined, { kind }: Scope): readonly Key[] | undefined =>
  rows?.filter(({ type }) => kind === 'workspace' || type === 'organisation-service')

function Keys({ scope }: { readonly scope: Scope }) {
  const [search, change] = useAddress()
  const [isCreating, setCreating] = useState(false)
  const [fresh, setFresh] = useState<NewSecret | null>(null)
  const text = search['q'] ?? ''
  const place = scope.workspace === undefined ? {} : { workspace_id: scope.workspace }
  const list = useList('GET /api-keys', { query: { ...place, search: text }, workspace: scope.workspace })
  const shown = { ...list, rows: ofScope(list.rows, scope) }
  const opened = list.rows?.find(({ id }) => id === search['key'])
  const mayCreate = creatable(scope).length > 0
  const create = (
    <Button disabled={!mayCreate} onClick={() => setCreating(true)}>
      Create key
    </Button>
  )
  return (
    <Page title={scope.kind === 'workspace' ? 'API keys' : 'Organisation keys'} tools={create}>
      {!mayCreate && <p className="hint">{texts.lacksCreate}</p>}
      <p role="status" className="hint">
        {search['done'] === 'stopped' ? texts.stopped : ''}
      </p>
      <SearchBox text={text} onChange={(q) => change({ q }, { replace: true })} />
      <div className={opened === undefined ? 'beside single' : 'beside'}>
        <div>
          <ListGrid
            label="API keys"
            list={shown}
            columns={columns}
            idOf={({ id }) => id}
            rowHeight={40}
            selected={opened?.id ?? null}
            onOpen={({ id }) => change({ key: id }, { replace: opened !== undefined })}
            empty={<NoKeys text={text} />}
          />
        </div>
        {opened !== undefined && (
          <KeyPanel
            key={opened.id}
            apiKey={opened}
            scope={scope}
            onClose={() => change({ key: '' })}
            onStopped={() => change({ key: '', done: 'stopped' })}
            onRotated={setFresh}
          />
        )}
      </div>
      <NewKey scope={scope} isCreating={isCreating} onEnd={() => setCreating(false)} fresh={fresh} onSecret={setFresh} />
    </Page>
  )
}
