import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { call, callTagged, type Tagged } from '../../api/client.ts'
import { forget, useRead, useTagged } from '../../api/query.ts'
import { EditForm } from '../../parts/form/edit-form.tsx'
import { useEdit } from '../../parts/form/edit.ts'
import { Page } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { Failed, Loading, State } from '../../parts/state.tsx'
import { lifeOf, Status } from '../../parts/status.tsx'
import { scopePath } from '../../shell/places.ts'
import { may, useScope, type Scope } from '../../shell/scope.ts'
import { KeyActions, type NewSecret } from './key-actions.tsx'
import { BoundFields, DefaultFields, DescriptionField, NameField, RotationFields, ScopeFields } from './key-fields.tsx'
import { KeySummary } from './key-summary.tsx'
import { KeyUse } from './key-use.tsx'
import { bodyOf, valuesOf, type KeyValues } from './key-values.ts'
import { families } from './kinds.ts'
import { NewSecretDialog } from './new-secret.tsx'
import { labels, texts, valueNames } from './texts.ts'

/** One key as a page: what it is, and how to change, replace or stop it. */
export function KeyPage() {
  const scope = useScope()
  const { keyId = '' } = useParams({ strict: false }) as { keyId?: string }
  return scope === null ? null : <KeyOf key={keyId} id={keyId} scope={scope} />
}

interface KeyOfProps {
  readonly id: string
  readonly scope: Scope
}

function KeyOf({ id, scope }: KeyOfProps) {
  const { data, error, refetch } = useTagged('GET /api-keys/{id}', { path: { id }, workspace: scope.workspace })
  const [fresh, setFresh] = useState<NewSecret | null>(null)
  const navigate = useNavigate()
  if (data === undefined)
    return (
      <Page title="Key">{error === null ? <Loading rows={10} /> : <Failed what="key" error={error} onRetry={() => void refetch()} />}</Page>
    )
  const { answer: key } = data
  const stopped = () => void navigate({ to: `${scopePath(scope)}/keys` as never, search: { done: 'stopped' } as never })
  return (
    <Page title={key.name} tools={<Status {...lifeOf(key.status)} />}>
      <PageTabs
        label="Key"
        tabs={[
          ['summary', 'Summary', () => <KeySummary apiKey={key} />],
          ['use', 'Use', () => <KeyUse apiKey={key} />],
          ['change', 'Change', () => <Change read={data} scope={scope} />],
          ['replace', 'Rotate or stop', () => <KeyActions apiKey={key} scope={scope} onRotated={setFresh} onStopped={stopped} />],
        ]}
      />
      <NewSecretDialog fresh={fresh} onClose={() => setFresh(null)} />
    </Page>
  )
}

type Read = Tagged<'GET /api-keys/{id}'>

interface ChangeProps {
  readonly read: Read
  readonly scope: Scope
}

/** The form of a key, for those who may change it. */
function Change({ read, scope }: ChangeProps) {
  const [revision, setRevision] = useState(0)
  const right = `${families[read.answer.type]}.update`
  const catalogue = useRead('GET /catalogue/scopes', { workspace: scope.workspace }, { staleTime: Number.POSITIVE_INFINITY })
  if (!may(scope, right))
    return (
      <State title="You cannot change this.">
        <p>{texts.lacks(right, scope.name)}</p>
      </State>
    )
  if (catalogue.data === undefined)
    return catalogue.error === null ? (
      <Loading rows={8} />
    ) : (
      <Failed what="form" error={catalogue.error} onRetry={() => void catalogue.refetch()} />
    )
  return (
    <>
      <ChangeForm key={revision} read={read} scope={scope} catalogue={catalogue.data} onSaved={() => setRevision((former) => former + 1)} />
      <p role="status">{revision > 0 ? texts.saved : ''}</p>
    </>
  )
}

interface ChangeFormProps extends ChangeProps {
  readonly catalogue: Parameters<typeof ScopeFields>[0]['catalogue']
  readonly onSaved: () => void
}

const versionOf = ({ answer, tag }: Read) => ({ values: valuesOf(answer), tag })

function ChangeForm({ read, scope, catalogue, onSaved }: ChangeFormProps) {
  const { id, type } = read.answer
  const { workspace } = scope
  const [changedAt, setChangedAt] = useState(read.answer.last_updated_at)
  const edit = useEdit<KeyValues>({
    read: versionOf(read),
    readAgain: async () => {
      const theirs = await callTagged('GET /api-keys/{id}', { path: { id }, workspace })
      setChangedAt(theirs.answer.last_updated_at)
      return versionOf(theirs)
    },
    write: (typed, { values, tag }) => call('PUT /api-keys/{id}', { path: { id }, workspace, ifMatch: tag, body: bodyOf(typed, values) }),
    onSaved: async () => {
      await forget('GET /api-keys', 'GET /api-keys/{id}')
      onSaved()
    },
  })
  const fields = { values: edit.values, set: edit.set, scope }
  return (
    <EditForm
      edit={edit}
      labels={labels}
      nameOf={(field) => valueNames[field]}
      changedAt={changedAt}
      disabled={edit.values.scopes.length === 0}
    >
      <NameField {...fields} />
      <DescriptionField {...fields} />
      <ScopeFields {...fields} catalogue={catalogue} type={type} />
      <BoundFields {...fields} canKeep />
      <DefaultFields {...fields} />
      <RotationFields {...fields} />
    </EditForm>
  )
}
