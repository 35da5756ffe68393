import { Button, Modal, NativeSelect, Radio, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { call, newOnce, type Answer, type ApiFailure } from '../../api/client.ts'
import { forget, useRead } from '../../api/query.ts'
import { Failed, Fault, Loading } from '../../parts/state.tsx'
import { may, type Scope } from '../../shell/scope.ts'
import { useMe } from '../../shell/session.tsx'

type Preset = Answer<'GET /catalogue/scopes'>['presets'][number]
type KeyType = 'organisation-service' | 'workspace-service' | 'workspace-user'

const families: Readonly<Record<KeyType, string>> = {
  'organisation-service': 'organisation_service_api_keys',
  'workspace-service': 'workspace_service_api_keys',
  'workspace-user': 'workspace_user_api_keys',
}

const words: Readonly<Record<KeyType, string>> = {
  'organisation-service': 'A program of the organisation',
  'workspace-service': 'A program',
  'workspace-user': 'Myself',
}

/** Returns the kinds of keys that a person may make in a scope. */
export const creatable = (scope: Scope): readonly KeyType[] =>
  (scope.kind === 'organisation' ? (['organisation-service'] as const) : (['workspace-service', 'workspace-user'] as const)).filter(
    (type) => may(scope, `${families[type]}.create`),
  )

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
    <Modal opened onClose={onClose} title="Create key" closeButtonProps={{ 'aria-label': 'Close' }}>
      {data === undefined ? (
        error === null ? (
          <Loading rows={4} />
        ) : (
          <Failed what="form" error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <Form scope={scope} presets={data.presets} onClose={onClose} onMade={onMade} />
      )}
    </Modal>
  )
}

const expiries = [
  ['', 'Never'],
  ['7', 'In 7 days'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
] as const

const dayMs = 86_400_000

/** The values of the form. */
interface Values {
  readonly name: string
  readonly type: KeyType
  readonly preset: string
  readonly limit: string
  readonly resets: string
  readonly expires: string
}

interface FormProps extends CreateKeyProps {
  readonly presets: readonly Preset[]
}

/** Returns how to make the key that the values mean. A submit that is sent twice makes one. */
function useCreation(scope: Scope, onMade: CreateKeyProps['onMade']) {
  const { user } = useMe()
  return useMutation<
    Answer<'POST /api-keys/{type}/{subType}'>,
    ApiFailure,
    { readonly values: Values; readonly scopes: readonly string[]; readonly once: string }
  >({
    mutationFn: ({ values, scopes, once }) =>
      call('POST /api-keys/{type}/{subType}', {
        path: pathOf(values.type),
        workspace: scope.workspace,
        once,
        body: { name: values.name, scopes, ...boundsOf(values), ...(values.type === 'workspace-user' && { user_id: user.id }) },
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

function Form({ scope, presets, onClose, onMade }: FormProps) {
  const types = creatable(scope)
  const [values, setValues] = useState<Values>({
    name: '',
    type: types[0] ?? 'workspace-service',
    preset: '',
    limit: '',
    resets: 'monthly',
    expires: '',
  })
  const [once, setOnce] = useState(newOnce)
  const set = (change: Partial<Values>) => {
    setValues((former) => ({ ...former, ...change }))
    setOnce(newOnce())
  }
  const offered = presets.filter((preset) => scopesOf(preset, values.type, scope).length > 0)
  const chosen = offered.find(({ id }) => id === values.preset) ?? offered[0]
  const make = useCreation(scope, onMade)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    make.mutate({ values, scopes: scopesOf(chosen, values.type, scope), once })
  }
  return (
    <form className="stack" onSubmit={submit}>
      <TextInput
        data-autofocus
        label="Name"
        required
        maxLength={255}
        value={values.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <Radio.Group label="For" value={values.type} onChange={(type) => set({ type: types.find((one) => one === type) ?? values.type })}>
        {types.map((type) => (
          <Radio key={type} value={type} label={words[type]} />
        ))}
      </Radio.Group>
      <Radio.Group label="May do" value={chosen?.id ?? ''} onChange={(preset) => set({ preset })}>
        {offered.map(({ id, title, description }) => (
          <Radio key={id} value={id} label={title} description={description} />
        ))}
      </Radio.Group>
      <Bounds values={values} set={set} />
      <Fault error={make.error} />
      <div className="row">
        <Button type="submit" loading={make.isPending}>
          Create key
        </Button>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  )
}

const periods = [
  { value: 'monthly', label: 'Each month' },
  { value: 'weekly', label: 'Each week' },
  { value: '', label: 'Never' },
]

/** The budget of a key and its end. */
const Bounds = ({ values, set }: { readonly values: Values; readonly set: (change: Partial<Values>) => void }) => (
  <div className="row">
    <TextInput
      label="Limit (optional)"
      description="US dollars"
      inputMode="decimal"
      pattern="\d+(\.\d+)?"
      value={values.limit}
      onChange={(event) => set({ limit: event.currentTarget.value })}
    />
    <NativeSelect
      label="Resets"
      description="In UTC"
      value={values.resets}
      data={periods}
      onChange={(event) => set({ resets: event.currentTarget.value })}
    />
    <NativeSelect
      label="Expires"
      description="Then it stops"
      value={values.expires}
      data={expiries.map(([value, label]) => ({ value, label }))}
      onChange={(event) => set({ expires: event.currentTarget.value })}
    />
  </div>
)

/** Returns the rights of a preset that the person can pass on; somebody gives no right that they lack. */
const scopesOf = (preset: Preset | undefined, type: KeyType, scope: Scope): readonly string[] =>
  (preset?.scopes.find((one) => one.key_type === type)?.scopes ?? []).filter((right) => may(scope, right))

function boundsOf({ limit, resets, expires }: Values) {
  return {
    ...(limit !== '' && {
      usage_limits: {
        type: 'cost' as const,
        credit_limit: Number(limit),
        periodic_reset: resets === '' ? null : (resets as 'monthly' | 'weekly'),
      },
    }),
    ...(expires !== '' && { expires_at: new Date(Date.now() + Number(expires) * dayMs).toISOString() }),
  }
}
