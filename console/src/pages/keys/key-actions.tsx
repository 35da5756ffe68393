import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call, newOnce, type Answer, type ApiFailure } from '../../api/client.ts'
import { forget } from '../../api/query.ts'
import { Fault } from '../../parts/state.tsx'
import { may, type Scope } from '../../shell/scope.ts'
import type { Key } from './columns.tsx'
import { transitions } from './key-fields.tsx'
import { families } from './kinds.ts'
import { texts } from './texts.ts'

/** A new secret of a key, and until when the former one serves. */
export interface NewSecret {
  readonly secret: string
  readonly until: string | null
}

export interface KeyActionsProps {
  readonly apiKey: Key
  readonly scope: Scope
  readonly onRotated: (fresh: NewSecret) => void
  readonly onStopped: () => void
}

/** Why an action is not there for a person; null: it is. */
const lack = ({ apiKey, scope }: KeyActionsProps, verb: string): string | null => {
  const right = `${families[apiKey.type]}.${verb}`
  return may(scope, right) ? null : texts.lacks(right, scope.name)
}

/** How to replace a key, and how to stop it. */
export const KeyActions = (props: KeyActionsProps) => (
  <>
    <Rotate {...props} />
    <Stop {...props} />
  </>
)

function Rotate(props: KeyActionsProps) {
  const { apiKey, scope, onRotated } = props
  const [transition, setTransition] = useState<string>(transitions[0]?.value ?? '')
  const [once, setOnce] = useState(newOnce)
  const reason = lack(props, 'rotate')
  const rotate = useMutation<Answer<'POST /api-keys/{id}/rotate'>, ApiFailure>({
    mutationFn: () =>
      call('POST /api-keys/{id}/rotate', {
        path: { id: apiKey.id },
        workspace: scope.workspace,
        once,
        body: { key_transition_period_ms: Number(transition) },
      }),
    onSuccess: ({ key, key_transition_expires_at: until }) => {
      setOnce(newOnce())
      void forget('GET /api-keys', 'GET /api-keys/{id}')
      onRotated({ secret: key, until })
    },
  })
  return (
    <section className="stack" aria-label="Rotation">
      <div className="row">
        <NativeSelect
          label="The old key serves for"
          value={transition}
          data={transitions}
          onChange={(event) => {
            setTransition(event.currentTarget.value)
            setOnce(newOnce())
          }}
        />
        <Button
          variant="default"
          loading={rotate.isPending}
          aria-disabled={reason !== null}
          aria-describedby={reason === null ? undefined : `lack-rotate-${apiKey.id}`}
          onClick={() => reason === null && rotate.mutate()}
        >
          Rotate
        </Button>
      </div>
      {reason !== null && (
        <p className="hint" id={`lack-rotate-${apiKey.id}`}>
          {reason}
        </p>
      )}
      <Fault error={rotate.error} />
    </section>
  )
}

/** Stops a key for good, once its name was typed. */
function Stop(props: KeyActionsProps) {
  const {
    apiKey: { id, name },
    scope,
    onStopped,
  } = props
  const [typed, setTyped] = useState('')
  const reason = lack(props, 'delete')
  const stop = useMutation<unknown, ApiFailure>({
    mutationFn: () => call('DELETE /api-keys/{id}', { path: { id }, workspace: scope.workspace }),
    onSuccess: () => {
      void forget('GET /api-keys')
      onStopped()
    },
  })
  if (reason !== null) return <p className="hint">Stop now: {reason}</p>
  return (
    <section className="stack" aria-label="Stop">
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
    </section>
  )
}
