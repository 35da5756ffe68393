import { Button, Modal, NativeSelect, PasswordInput, Radio, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call, newOnce, type Answer, type ApiFailure } from '../../api/client.ts'
import { forget, useRead } from '../../api/query.ts'
import { Failed, Fault, Loading } from '../../parts/state.tsx'
import type { Scope } from '../../shell/scope.ts'
import { configurationOf, ProviderFields, type CatalogueProvider, type FieldValues } from './provider-fields.tsx'
import { TestResult } from './test-result.tsx'

interface AddIntegrationProps {
  readonly scope: Scope
  readonly onSaved: (slug: string) => void
  readonly onCancel: () => void
}

/** A dialog for a new account at a provider, which is tested before anybody uses it. */
export const AddIntegration = (props: AddIntegrationProps) => (
  <Modal opened onClose={props.onCancel} title="Add integration" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
    <IntegrationForm {...props} saveLabel="Save" cancelLabel="Cancel" />
  </Modal>
)

interface IntegrationFormProps extends AddIntegrationProps {
  readonly saveLabel: string
  readonly cancelLabel: string
}

/** The form of a new account, made from the catalogue of providers. */
export function IntegrationForm(props: IntegrationFormProps) {
  const { data, error, refetch } = useRead(
    'GET /catalogue/providers',
    { workspace: props.scope.workspace },
    { staleTime: Number.POSITIVE_INFINITY },
  )
  if (data === undefined) return error === null ? <Loading rows={6} /> : <Failed what="form" error={error} onRetry={() => void refetch()} />
  return <Form {...props} catalogue={data.data} />
}

const common = ['openai', 'anthropic', 'azure-openai', 'bedrock', 'google', 'vertex-ai']
const other = 'other'

interface Values {
  readonly providerId: string
  readonly name: string
  readonly key: string
  readonly fields: FieldValues
}

function Form({
  scope,
  onSaved,
  onCancel,
  saveLabel,
  cancelLabel,
  catalogue,
}: IntegrationFormProps & { readonly catalogue: readonly CatalogueProvider[] }) {
  const offered = common.flatMap((id) => catalogue.find((one) => one.id === id) ?? [])
  const [values, setValues] = useState<Values>({ providerId: offered[0]?.id ?? '', name: '', key: '', fields: {} })
  const [once, setOnce] = useState(newOnce)
  const provider = catalogue.find(({ id }) => id === values.providerId)
  const { test, save } = useAccount({ scope, values, provider, once, onSaved })
  const set = (change: Partial<Values>) => {
    setValues((former) => ({ ...former, ...change }))
    setOnce(newOnce())
    test.reset()
  }
  return (
    <form className="stack" onSubmit={(event) => (event.preventDefault(), save.mutate())}>
      <ChooseProvider
        catalogue={catalogue}
        offered={offered}
        id={values.providerId}
        onChange={(providerId) => set({ providerId, fields: {} })}
      />
      <TextInput
        label="Name (optional)"
        placeholder={provider?.name ?? ''}
        value={values.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      {provider !== undefined && provider.key !== 'none' && (
        <PasswordInput
          label={provider.key === 'optional' ? 'API key (optional)' : 'API key'}
          autoComplete="off"
          value={values.key}
          onChange={(event) => set({ key: event.currentTarget.value })}
        />
      )}
      {provider !== undefined && <ProviderFields provider={provider} values={values.fields} onChange={(fields) => set({ fields })} />}
      <TestResult result={test.data} />
      <Fault error={save.error ?? test.error} />
      <div className="row">
        <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
          Test connection
        </Button>
        <Button type="submit" loading={save.isPending}>
          {saveLabel}
        </Button>
        <Button variant="default" onClick={onCancel}>
          {cancelLabel}
        </Button>
      </div>
    </form>
  )
}

interface AccountInput extends Pick<IntegrationFormProps, 'scope' | 'onSaved'> {
  readonly values: Values
  readonly provider: CatalogueProvider | undefined
  /** Sent twice, it makes one account. */
  readonly once: string
}

/** Returns how to test the account that the values mean, and how to store it. */
function useAccount({ scope, values, provider, once, onSaved }: AccountInput) {
  const { workspace } = scope
  const test = useMutation<Answer<'POST /integrations/test'>, ApiFailure>({
    mutationFn: () => call('POST /integrations/test', { workspace, body: accountOf(values, provider) }),
  })
  const save = useMutation<Answer<'POST /integrations'>, ApiFailure>({
    mutationFn: () => {
      const name = values.name || (provider?.name ?? '')
      return call('POST /integrations', {
        workspace,
        once,
        body: { ...accountOf(values, provider), name, ...(workspace !== undefined && { workspace_id: workspace }) },
      })
    },
    onSuccess: ({ slug }) => {
      void forget('GET /integrations', 'GET /providers')
      onSaved(slug)
    },
  })
  return { test, save }
}

/** Returns the part of the body that a test and a new account share. */
function accountOf({ providerId, key, fields }: Values, provider: CatalogueProvider | undefined) {
  const configurations = provider === undefined ? {} : configurationOf(provider, fields)
  return { ai_provider_id: providerId, ...(key !== '' && { key }), ...(Object.keys(configurations).length > 0 && { configurations }) }
}

interface ChooseProviderProps {
  readonly catalogue: readonly CatalogueProvider[]
  readonly offered: readonly CatalogueProvider[]
  readonly id: string
  readonly onChange: (id: string) => void
}

function ChooseProvider({ catalogue, offered, id, onChange }: ChooseProviderProps) {
  const isOther = !offered.some((one) => one.id === id)
  const others = catalogue.filter((one) => !offered.includes(one))
  return (
    <>
      <Radio.Group
        label="Provider"
        value={isOther ? other : id}
        onChange={(value) => onChange(value === other ? (others[0]?.id ?? '') : value)}
      >
        <div className="row">
          {offered.map((one) => (
            <Radio key={one.id} value={one.id} label={one.name} />
          ))}
          <Radio value={other} label="Another" />
        </div>
      </Radio.Group>
      {isOther && (
        <NativeSelect
          label="Another provider"
          value={id}
          data={others.map(({ id: value, name }) => ({ value, label: name }))}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </>
  )
}
