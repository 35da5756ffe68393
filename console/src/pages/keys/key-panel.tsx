import { Link } from '@tanstack/react-router'
import { Aside } from '../../parts/aside.tsx'
import { lifeOf, Status } from '../../parts/status.tsx'
import { scopePath } from '../../shell/places.ts'
import { KeyActions, type KeyActionsProps } from './key-actions.tsx'
import { KeySummary } from './key-summary.tsx'

interface KeyPanelProps extends KeyActionsProps {
  readonly onClose: () => void
}

/** One key beside the list: its rights, its bounds, how to change, replace or stop it. */
export function KeyPanel({ apiKey, scope, onClose, onRotated, onStopped }: KeyPanelProps) {
  const page = `${scopePath(scope)}/keys/${apiKey.id}`
  return (
    <Aside
      label="Key"
      head={
        <>
          <Status {...lifeOf(apiKey.status)} />
          <strong className="text-of-data">{apiKey.name}</strong>
          <Link to={page as never}>Open as page</Link>
          <Link to={page as never} search={{ tab: 'change' } as never}>
            Change
          </Link>
        </>
      }
      onClose={onClose}
    >
      <KeySummary apiKey={apiKey} />
      <KeyActions apiKey={apiKey} scope={scope} onRotated={onRotated} onStopped={onStopped} />
    </Aside>
  )
}
