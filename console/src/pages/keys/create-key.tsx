import { Button, Modal, NativeSelect, Radio } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { call, newOnce, type Answer, type ApiFailure } from '../../api/client.ts'
import { forget, useRead } from '../../api/query.ts'
import { FaultList, Faulty, useField } from '../../parts/form/faults.tsx'
import { ScopePicker } from '../../parts/form/scope-picker.tsx'
import { Failed, Loading } from '../../parts/state.tsx'
import { may, type Scope } from '../../shell/scope.ts'
import { useMe } from '../../shell/session.tsx'
import { BoundFields, DefaultFields, DescriptionField, NameField, RotationFields, type KeyFieldsProps } from './key-fields.tsx'
import { newBodyOf, newKey, type KeyValues } from './key-values.ts'
import { creatable, groupsOf, scopesOf, type Catalogue, type KeyType } from './kinds.ts'
import { labels } from './texts.ts'

interface CreateKeyProps {
  readonly scope: Scope
  readonly onClose: () => void
  /** Called with the new key, which is shown this once. */
  readonly onMade: (key: string) => void
}

/** A dialog for a new key: whom it is for, its rights, its bounds. */
export function CreateKey({ scope, onClose, onMade }: CreateKeyProps) {
  const { data, error, refetch } = useRead('GET /catalogue/scopes', { workspace: scope.workspace }, { staleTime: Number.POSITIVE_INFINITY })
  return (
    <Modal opened onClose={onClose} title="Create key" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
      {data === undefined ? (
        error === null ? (
          <Loading rows={4} />
        ) : (
          <Failed what="form" error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <Form scope={scope} catalogue={data} onClose={onClose} onMade={onMade} />
      )}
    </Modal>
  )
}

/** Whom a key is for. */
type For = KeyType | 'somebody'

const words: Readonly<Record<For, string>> = {
  'organisation-service': 'A program of the organisation',
  'workspace-service': 'A program',
  'workspace-user': 'Myself',
  somebody: 'Somebody else',
}

const chosenOneByOne = 'chosen'

interface Draft {
  readonly values: KeyValues
  readonly for: For
  readonly person: string
  readonly preset: string
}

const typeOf = ({ for: who }: Pick<Draft, 'for'>): KeyType => (who === 'somebody' ? 'workspace-user' : who)

/** Returns how to make the key that the form means. A submit that is sent twice makes one. */
function useCreation(scope: Scope, onMade: CreateKeyProps['onMade']) {
  const { user } = useMe()
  return useMutation<
    Answer<'POST /api-keys/{type}/{subType}'>,
    ApiFailure,
    { readonly draft: Draft; readonly scopes: readonly string[]; readonly once: string }
  >({
    mutationFn: ({ draft, scopes, once }) =>
      call('POST /api-keys/{type}/{subType}', {
        path: pathOf(typeOf(draft)),
        workspace: scope.workspace,
        once,
        body: {
          ...newBodyOf(draft.values),
          name: draft.values.name,
          scopes,
          ...(typeOf(draft) === 'workspace-user' && { user_id: draft.for === 'somebody' ? draft.person : user.id }),
        },
      }),
    onSuccess: ({ key }) => {
      void forget('GET /api-keys')
      onMade(key)
    },
  })
}

const pathOf = (type: KeyType) =>
  type === 'organisation-service'
    ? ({ type: 'organisation', subType: 'service' } as const)
    : ({ type: 'workspace', subType: type === 'workspace-user' ? 'user' : 'service' } as const)

/** Returns for whom a person may make keys here: for others from manager on. */
const offeredFor = (scope: Scope): readonly For[] => {
  const types = creatable(scope)
  const forOthers = types.includes('workspace-user') && may(scope, 'workspace_users.list') && scope.role !== 'member'
  return forOthers ? [...types, 'somebody'] : types
}

interface FormProps extends CreateKeyProps {
  readonly catalogue: Catalogue
}

function Form({ scope, catalogue, onClose, onMade }: FormProps) {
  const kinds = offeredFor(scope)
  const [draft, setDraft] = useState<Draft>({ values: newKey, for: kinds[0] ?? 'workspace-service', person: '', preset: '' })
  const [once, setOnce] = useState(newOnce)
  const change = (changed: Partial<Draft>) => {
    setDraft((former) => ({ ...former, ...changed }))
    setOnce(newOnce())
  }
  const fields = { scope, values: draft.values, set: (part: Partial<KeyValues>) => change({ values: { ...draft.values, ...part } }) }
  const type = typeOf(draft)
  const presets = catalogue.presets.filter((preset) => scopesOf(preset, type, scope).length > 0)
  const preset = presets.find(({ id }) => id === draft.preset) ?? presets[0]
  const isOneByOne = draft.preset === chosenOneByOne
  const scopes = isOneByOne ? draft.values.scopes : scopesOf(preset, type, scope)
  const make = useCreation(scope, onMade)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    make.mutate({ draft, scopes, once })
  }
  const choosePreset = (id: string) => change({ preset: id, values: { ...draft.values, scopes } })
  return (
    <Faulty error={make.error} labels={labels}>
      <form className="stack" onSubmit={submit}>
        <NameField {...fields} />
        <Radio.Group label="For" value={draft.for} onChange={(to) => change({ for: kinds.find((one) => one === to) ?? draft.for })}>
          {kinds.map((one) => (
            <Radio key={one} value={one} label={words[one]} />
          ))}
        </Radio.Group>
        {draft.for === 'somebody' && <Person scope={scope} person={draft.person} onChange={(person) => change({ person })} />}
        <Radio.Group label="May do" value={isOneByOne ? chosenOneByOne : (preset?.id ?? '')} onChange={choosePreset}>
          {presets.map(({ id, title, description }) => (
            <Radio key={id} value={id} label={title} description={description} />
          ))}
          <Radio value={chosenOneByOne} label="Chosen one by one" description="From all rights that you can pass on." />
        </Radio.Group>
        {isOneByOne && (
          <ScopePicker groups={groupsOf(catalogue, type, scope)} chosen={scopes} onChange={(to) => fields.set({ scopes: to })} />
        )}
        <BoundFields {...fields} />
        <MoreFields {...fields} />
        <FaultList />
        <div className="row">
          <Button type="submit" disabled={make.isPending || scopes.length === 0}>
            {make.isPending ? 'Saving…' : 'Create key'}
          </Button>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </Faulty>
  )
}

/** What few keys need at the start. */
const MoreFields = (fields: KeyFieldsProps) => (
  <details>
    <summary>More fields</summary>
    <div className="stack">
      <DescriptionField {...fields} />
      <DefaultFields {...fields} />
      <RotationFields {...fields} />
    </div>
  </details>
)

interface PersonProps {
  readonly scope: Scope
  readonly person: string
  readonly onChange: (id: string) => void
}

/** Chooses a member of the workspace. */
function Person({ scope, person, onChange }: PersonProps) {
  const field = useField('user_id')
  const { user } = useMe()
  const { data, error } = useRead('GET /admin/workspaces/{workspaceId}/users', {
    path: { workspaceId: scope.slug },
    workspace: scope.workspace,
    query: { page_size: 100 },
  })
  const people = (data?.data ?? []).filter(({ id }) => id !== user.id)
  return (
    <NativeSelect
      {...field}
      error={field.error ?? error?.message}
      required
      value={person}
      data={[{ value: '', label: 'Choose a member' }, ...people.map(({ id, email }) => ({ value: id, label: email }))]}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
