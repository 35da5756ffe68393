import { TextInput } from '@mantine/core'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { call, callTagged, type Tagged } from '../../api/client.ts'
import { forget, useRead, useTagged } from '../../api/query.ts'
import { Facts } from '../../parts/facts.tsx'
import { BudgetFields, budgetLabels } from '../../parts/form/budget-field.tsx'
import { EditForm } from '../../parts/form/edit-form.tsx'
import { useEdit, type Edit } from '../../parts/form/edit.ts'
import { ExpiryField } from '../../parts/form/expiry-field.tsx'
import { useField } from '../../parts/form/faults.tsx'
import { PairsField } from '../../parts/form/pairs-field.tsx'
import { RatesField, rateWords } from '../../parts/form/rates-field.tsx'
import { BoundedBy } from '../../parts/bounded-by.tsx'
import { BudgetMeter } from '../../parts/meter.tsx'
import { Page } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { Failed, Loading, State } from '../../parts/state.tsx'
import { lifeOf, Status } from '../../parts/status.tsx'
import { TimeOf } from '../../parts/time-of.tsx'
import { scopePath } from '../../shell/places.ts'
import { may, useScope, type Scope } from '../../shell/scope.ts'
import { DeleteByName } from './delete-by-name.tsx'
import { OfferedModels } from './offered-models.tsx'
import { bodyOf, valuesOf, type Provider, type ProviderValues } from './provider-values.ts'
import { texts } from './texts.ts'
import { UsedBy } from './used-by.tsx'

/** One provider of a workspace: its handle, its bounds and its models. */
export function ProviderPage() {
  const scope = useScope()
  const { slug = '' } = useParams({ strict: false }) as { slug?: string }
  return scope === null ? null : <ProviderOf key={scope.slug + slug} slug={slug} scope={scope} />
}

interface ProviderOfProps {
  readonly slug: string
  readonly scope: Scope
}

/** Returns the input of the operations on a provider of a workspace. */
const placeOf = ({ slug, scope }: ProviderOfProps) => ({ path: { slug }, workspace: scope.workspace, query: { workspace_id: scope.slug } })

function ProviderOf({ slug, scope }: ProviderOfProps) {
  const { data, error, refetch } = useTagged('GET /providers/{slug}', placeOf({ slug, scope }))
  if (data === undefined)
    return (
      <Page title="Provider">
        {error === null ? <Loading rows={10} /> : <Failed what="provider" error={error} onRetry={() => void refetch()} />}
      </Page>
    )
  const provider = data.answer
  return (
    <Page title={provider.name} tools={<Status {...lifeOf(provider.status)} />}>
      <PageTabs
        label="Provider"
        tabs={[
          ['summary', 'Summary', () => <Summary provider={provider} />],
          ['change', 'Change', () => <Change read={data} scope={scope} />],
          ['models', 'Models', () => <OfferedModels scope={scope} provider={slug} />],
          ['users', 'Used by', () => <Users provider={provider} scope={scope} />],
        ]}
      />
    </Page>
  )
}

function Summary({ provider }: { readonly provider: Provider }) {
  const { usage, usage_limits: budget, bounded_by: bounds = [] } = provider
  return (
    <>
      {usage && <BudgetMeter name={provider.name} usage={usage} type={budget?.type ?? 'cost'} />}
      <Facts
        facts={[
          ['Handle', `@${provider.slug}`],
          ['Note', provider.note],
          ['Budget resets', usage?.resets_at ? <TimeOf iso={usage.resets_at} /> : ''],
          ['Rates', provider.rate_limits?.map(rateWords).join(', ')],
          ['Last used', provider.last_used_at ? <TimeOf iso={provider.last_used_at} /> : 'never'],
          ['Expires', provider.expires_at === null ? 'never' : <TimeOf iso={provider.expires_at} />],
          [
            'Tags',
            Object.entries(provider.tags ?? {})
              .map(([name, value]) => `${name}=${value}`)
              .join(', '),
          ],
          ['Made', <TimeOf key="made" iso={provider.created_at} />],
        ]}
      />
      {bounds.length > 0 && <BoundedBy bounds={bounds} />}
    </>
  )
}

type Read = Tagged<'GET /providers/{slug}'>

interface ChangeProps {
  readonly read: Read
  readonly scope: Scope
}

/** The form of a provider, for those who may change it. */
function Change({ read, scope }: ChangeProps) {
  const [revision, setRevision] = useState(0)
  if (!may(scope, 'providers.update'))
    return (
      <State title="You cannot change this.">
        <p>{texts.needsHere('providers.update', scope.name)}</p>
      </State>
    )
  return (
    <>
      <ChangeForm key={revision} read={read} scope={scope} onSaved={() => setRevision((former) => former + 1)} />
      <p role="status">{revision > 0 ? texts.saved : ''}</p>
    </>
  )
}

const labels = { name: 'Name', note: 'Note', tags: 'Tags', ...budgetLabels, rate_limits: 'Rates', expires_at: 'Expires' }
const valueNames = { name: 'Name', note: 'Note', tags: 'Tags', budget: 'Budget', rates: 'Rates', expiry: 'Expires' } as const

function ChangeForm({ read, scope, onSaved }: ChangeProps & { readonly onSaved: () => void }) {
  const place = placeOf({ slug: read.answer.slug, scope })
  const [changedAt, setChangedAt] = useState(read.answer.last_updated_at)
  const edit = useEdit<ProviderValues>({
    read: { values: valuesOf(read.answer), tag: read.tag },
    readAgain: async () => {
      const theirs = await callTagged('GET /providers/{slug}', place)
      setChangedAt(theirs.answer.last_updated_at)
      return { values: valuesOf(theirs.answer), tag: theirs.tag }
    },
    write: (typed, { tag }) => call('PUT /providers/{slug}', { ...place, ifMatch: tag, body: bodyOf(typed) }),
    onSaved: async () => {
      await forget('GET /providers', 'GET /providers/{slug}')
      onSaved()
    },
  })
  return (
    <EditForm edit={edit} labels={labels} nameOf={(field) => valueNames[field]} changedAt={changedAt}>
      <Fields edit={edit} />
    </EditForm>
  )
}

function Fields({ edit: { values, set } }: { readonly edit: Edit<ProviderValues> }) {
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
        {...useField('note')}
        description="Optional"
        value={values.note}
        onChange={(event) => set({ note: event.currentTarget.value })}
      />
      <BudgetFields budget={values.budget} onChange={(change) => set({ budget: { ...values.budget, ...change } })} />
      <ExpiryField expiry={values.expiry} canKeep onChange={(change) => set({ expiry: { ...values.expiry, ...change } })} />
      <RatesField rates={values.rates} units={['rpm', 'rph', 'rpd']} onChange={(rates) => set({ rates })} />
      <PairsField path="tags" pairs={values.tags} onChange={(tags) => set({ tags })} />
    </>
  )
}

/** The configs and prompts that name a provider, and its deletion. */
function Users({ provider, scope }: { readonly provider: Provider; readonly scope: Scope }) {
  const navigate = useNavigate()
  const place = placeOf({ slug: provider.slug, scope })
  const { data, error, refetch } = useRead('GET /providers/{slug}', { ...place, query: { ...place.query, include_used_by: 'true' } })
  if (data === undefined) return error === null ? <Loading rows={4} /> : <Failed what="list" error={error} onRetry={() => void refetch()} />
  return (
    <>
      <UsedBy users={data.used_by ?? []} />
      {may(scope, 'providers.delete') ? (
        <DeleteByName
          name={provider.name}
          note="Requests that name its handle are refused within a second. It is refused while configs or prompts use it."
          onDelete={() => call('DELETE /providers/{slug}', place)}
          onDone={() => {
            void forget('GET /providers')
            void navigate({ to: `${scopePath(scope)}/providers` as never })
          }}
        />
      ) : (
        <p className="hint">{texts.needsHere('providers.delete', scope.name)}</p>
      )}
    </>
  )
}
