import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type Answer, type ApiFailure } from '../../api/client.ts'
import { forget } from '../../api/query.ts'
import { Aside } from '../../parts/aside.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Fault } from '../../parts/state.tsx'
import { lifeOf, Status } from '../../parts/status.tsx'
import { TimeOf } from '../../parts/time-of.tsx'
import { may, type Scope } from '../../shell/scope.ts'
import { budgetOf, type Key } from './columns.tsx'

interface KeyPanelProps {
  readonly apiKey: Key
  readonly scope: Scope
  readonly onClose: () => void
  readonly onRotated: (key: string) => void
}

const families = {
  'organisation-service': 'organisation_service_api_keys',
  'workspace-service': 'workspace_service_api_keys',
  'workspace-user': 'workspace_user_api_keys',
} as const

/** One key: its rights, its bounds, and how to change or stop it. */
export function KeyPanel({ apiKey, scope, onClose, onRotated }: KeyPanelProps) {
  const family = families[apiKey.type]
  const bounds = apiKey.bounded_by ?? []
  return (
    <Aside
      label="Key"
      head={
        <>
          <Status {...lifeOf(apiKey.status)} />
          <strong className="text-of-data">{apiKey.name}</strong>
        </>
      }
      onClose={onClose}
    >
      <Facts
        facts={[
          ['Key', apiKey.key],
          ['Owner', apiKey.owner_name],
          ['Description', apiKey.description],
          ['Budget', budgetOf(apiKey)],
          ['Rates', apiKey.rate_limits?.map(({ value, type, unit }) => `${value} ${type} ${unit}`).join(', ')],
          ['Last used', apiKey.last_used_at ? <TimeOf iso={apiKey.last_used_at} /> : 'never'],
          ['Made', <TimeOf key="made" iso={apiKey.created_at} />],
          ['Expires', apiKey.expires_at === null ? 'never' : <TimeOf iso={apiKey.expires_at} />],
          ['Scopes', apiKey.scopes.join(', ')],
        ]}
      />
      {bounds.length > 0 && (
        <>
          <h2>Bounded by</h2>
          <ul aria-label="Bounded by">
            {bounds.map((bound) => (
              <li key={`${bound.owner_id}${bound.kind}${bound.type}${bound.group ?? ''}`} className="text-of-data">
                {bound.owner_name}: {bound.limit} {bound.type} {bound.unit ?? ''}
              </li>
            ))}
          </ul>
        </>
      )}
      {may(scope, `${family}.rotate`) && <Rotate apiKey={apiKey} scope={scope} onRotated={onRotated} />}
      {may(scope, `${family}.delete`) && <Stop apiKey={apiKey} scope={scope} onStopped={onClose} />}
    </Aside>
  )
}

/** Clients need at least half an hour to take up a new key. */
const transitions = [
  ['1800000', 'half an hour'],
  ['86400000', 'a day'],
  ['604800000', '7 days'],
] as const

function Rotate({ apiKey: { id }, scope, onRotated }: Pick<KeyPanelProps, 'apiKey' | 'scope' | 'onRotated'>) {
  const [transition, setTransition] = useState<string>(transitions[0][0])
  const rotate = useMutation<Answer<'POST /api-keys/{id}/rotate'>, ApiFailure>({
    mutationFn: () =>
      call('POST /api-keys/{id}/rotate', {
        path: { id },
        workspace: scope.workspace,
        body: { key_transition_period_ms: Number(transition) },
      }),
    onSuccess: ({ key }) => {
      void forget('GET /api-keys')
      onRotated(key)
    },
  })
  return (
    <div className="stack">
      <div className="row">
        <NativeSelect
          label="The old key serves for"
          value={transition}
          data={transitions.map(([value, label]) => ({ value, label }))}
          onChange={(event) => setTransition(event.currentTarget.value)}
        />
        <Button variant="default" loading={rotate.isPending} onClick={() => rotate.mutate()}>
          Rotate
        </Button>
      </div>
      <Fault error={rotate.error} />
    </div>
  )
}

interface StopProps extends Pick<KeyPanelProps, 'apiKey' | 'scope'> {
  readonly onStopped: () => void
}

/** Stops a key for good, once its name was typed. */
function Stop({ apiKey: { id, name }, scope, onStopped }: StopProps) {
  const [typed, setTyped] = useState('')
  const stop = useMutation<unknown, ApiFailure>({
    mutationFn: () => call('DELETE /api-keys/{id}', { path: { id }, workspace: scope.workspace }),
    onSuccess: () => {
      void forget('GET /api-keys')
      onStopped()
    },
  })
  return (
    <div className="stack">
      <div className="row">
        <TextInput
          label="Type the name to confirm"
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Button color="danger" disabled={typed !== name} loading={stop.isPending} onClick={() => stop.mutate()}>
          Stop now
        </Button>
      </div>
      <p className="hint">Requests with this key are refused within a second, in every process. It cannot be undone.</p>
      <Fault error={stop.error} />
    </div>
  )
}
