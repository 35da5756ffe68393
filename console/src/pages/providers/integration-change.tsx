import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call, callTagged, type Answer, type ApiFailure, type Asked, type Tagged } from '../../api/client.ts'
import { forget, useRead } from '../../api/query.ts'
import { EditForm } from '../../parts/form/edit-form.tsx'
import { useEdit, type Edit } from '../../parts/form/edit.ts'
import { useField } from '../../parts/form/faults.tsx'
import { objectOf, PairsField, pairsOf, type Pair } from '../../parts/form/pairs-field.tsx'
import { Failed, Fault, Loading, State } from '../../parts/state.tsx'
import { may, type Scope } from '../../shell/scope.ts'
import { endOf, rightOn, type Integration } from './account.ts'
import { StoredTest } from './integration-overview.tsx'
import { labelOf, ProviderFields, SecretField, typed, type CatalogueProvider, type FieldValues } from './provider-fields.tsx'
import { TestResult } from './test-result.tsx'
import { accountLabels, texts } from './texts.ts'

type Read = Tagged<'GET /integrations/{slug}'>

interface ChangeProps {
  readonly read: Read
  readonly scope: Scope
}

/** The form of an account, for those who may change it: its names, its key and the fields of its provider. */
export function IntegrationChange({ read, scope }: ChangeProps) {
  const [revision, setRevision] = useState(0)
  const { answer: account } = read
  const right = rightOn(account, 'update')
  const catalogue = useRead('GET /catalogue/providers', { workspace: scope.workspace }, { staleTime: Number.POSITIVE_INFINITY })
  if (!may(scope, right))
    return (
      <State title="You cannot change this.">
        <p>{texts.needs(right)}</p>
      </State>
    )
  if (catalogue.data === undefined)
    return catalogue.error === null ? (
      <Loading rows={8} />
    ) : (
      <Failed what="form" error={catalogue.error} onRetry={() => void catalogue.refetch()} />
    )
  const provider = catalogue.data.data.find(({ id }) => id === account.ai_provider_id)
  return (
    <>
      <Form key={revision} read={read} scope={scope} provider={provider} onSaved={() => setRevision((former) => former + 1)} />
      <p role="status">{revision > 0 ? texts.saved : ''}</p>
      {revision > 0 && <StoredTest account={account} scope={scope} />}
    </>
  )
}

type Values = {
  readonly name: string
  readonly description: string
  readonly tags: readonly Pair[]
  /** Null: the stored one stays. */
  readonly key: string | null
  readonly fields: FieldValues
}

const textIn = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : typeof value === 'object' ? '' : String(value))

function valuesOf({ name, description, tags, configurations }: Integration): Values {
  const shown = Object.entries(configurations).filter(([, value]) => value !== null && value !== undefined)
  return {
    name,
    description: description ?? '',
    tags: pairsOf(tags ?? {}),
    key: null,
    fields: Object.fromEntries(shown.map(([field, value]) => [field, textIn(value)])),
  }
}

/** Returns the fields of a provider that differ from what is stored; null clears one. */
function changedFields({ fields }: CatalogueProvider, stored: FieldValues, values: FieldValues): Readonly<Record<string, unknown>> {
  const changed = fields.filter(({ name }) => values[name] !== undefined && values[name] !== (stored[name] ?? undefined))
  return Object.fromEntries(changed.map((field) => [field.name, values[field.name] === '' ? null : typed(field, values[field.name] ?? '')]))
}

interface Context {
  readonly provider: CatalogueProvider | undefined
  readonly stored: FieldValues
}

function bodyOf(change: Partial<Values>, { provider, stored }: Context): Asked<'PUT /integrations/{slug}'>['body'] {
  const { name, description, tags, key, fields } = change
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description: description === '' ? null : description }),
    ...(tags !== undefined && { tags: objectOf(tags) }),
    ...(key !== undefined && { key: key === '' ? null : key }),
    ...(fields !== undefined && provider !== undefined && { configurations: changedFields(provider, stored, fields) }),
  }
}

interface FormProps extends ChangeProps {
  readonly provider: CatalogueProvider | undefined
  readonly onSaved: () => void
}

function Form({ read, scope, provider, onSaved }: FormProps) {
  const { slug, last_updated_at: at } = read.answer
  const { workspace } = scope
  const [current, setCurrent] = useState(read)
  const stored = valuesOf(current.answer).fields
  const edit = useEdit<Values>({
    read: { values: valuesOf(read.answer), tag: read.tag },
    readAgain: async () => {
      const theirs = await callTagged('GET /integrations/{slug}', { path: { slug }, workspace })
      setCurrent(theirs)
      return { values: valuesOf(theirs.answer), tag: theirs.tag }
    },
    write: async (change, { tag }) =>
      call('PUT /integrations/{slug}', { path: { slug }, workspace, ifMatch: tag, body: bodyOf(change, { provider, stored }) }),
    onSaved: async () => {
      await forget('GET /integrations', 'GET /integrations/{slug}', 'GET /providers')
      onSaved()
    },
  })
  const labels = {
    ...accountLabels,
    ...Object.fromEntries((provider?.fields ?? []).map(({ name }) => [`configurations.${name}`, labelOf(name)])),
  }
  return (
    <EditForm
      edit={edit}
      labels={labels}
      nameOf={(field) => valueNames[field]}
      wordsOf={conflictWords}
      changedAt={current.answer.last_updated_at ?? at}
    >
      <NameFields edit={edit} />
      {provider !== undefined && provider.key !== 'none' && <KeyField edit={edit} masked={current.answer.masked_key} />}
      {provider !== undefined && (
        <ProviderFields
          provider={provider}
          values={edit.values.fields}
          stored={current.answer.secret_fields}
          onChange={(fields) => edit.set({ fields })}
        />
      )}
      <PairsField path="tags" pairs={edit.values.tags} onChange={(tags) => edit.set({ tags })} />
      {provider !== undefined && <DraftTest edit={edit} account={current.answer} provider={provider} scope={scope} />}
    </EditForm>
  )
}

const valueNames = { name: 'Name', description: 'Description', tags: 'Tags', key: 'API key', fields: 'Fields of the provider' } as const

/** Secrets that were typed are not repeated in words. */
const conflictWords = (value: unknown): string =>
  typeof value === 'string' ? value : Array.isArray(value) ? value.map(String).join(', ') : 'other values'

function NameFields({ edit: { values, set } }: { readonly edit: Edit<Values> }) {
  return (
    <>
      <TextInput
        {...useField('name')}
        required
        maxLength={255}
        value={values.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <TextInput
        {...useField('description')}
        description="Optional"
        value={values.description}
        onChange={(event) => set({ description: event.currentTarget.value })}
      />
    </>
  )
}

function KeyField({ edit: { values, set }, masked }: { readonly edit: Edit<Values>; readonly masked: string | null }) {
  const field = useField('key')
  const isKept = values.key === null && masked !== null
  return <SecretField {...field} value={values.key ?? ''} hint={isKept ? endOf(masked) : null} onChange={(key) => set({ key })} />
}

interface DraftTestProps {
  readonly edit: Edit<Values>
  readonly account: Integration
  readonly provider: CatalogueProvider
  readonly scope: Scope
}

/** Tries the account as it is typed, where all of its secrets are typed too. */
function DraftTest({ edit: { values, changed }, account, provider, scope }: DraftTestProps) {
  const isTouched = changed.includes('key') || changed.includes('fields')
  const hidden = account.secret_fields.filter((name) => values.fields[name] === undefined)
  const isComplete = hidden.length === 0 && (account.masked_key === null || values.key !== null)
  const test = useMutation<Answer<'POST /integrations/test'>, ApiFailure>({
    mutationFn: () =>
      call('POST /integrations/test', {
        workspace: scope.workspace,
        body: {
          ai_provider_id: account.ai_provider_id,
          ...(values.key && { key: values.key }),
          configurations: changedFields(provider, {}, withoutEmpty(values.fields)),
        },
      }),
  })
  if (!isTouched) return <StoredTest account={account} scope={scope} />
  if (!isComplete) return <p className="hint">{texts.untested}</p>
  return (
    <div className="stack">
      <div className="row">
        <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
          Test connection
        </Button>
      </div>
      <TestResult result={test.data} />
      <Fault error={test.error} />
    </div>
  )
}

const withoutEmpty = (fields: FieldValues): FieldValues => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
