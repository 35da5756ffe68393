import { Button } from '@mantine/core'
import type { ApiFailure } from '../../api/client.ts'
import { Fault } from '../state.tsx'
import { LeaveGuard } from './leave-guard.tsx'

interface ChangesBarProps {
  readonly count: number
  readonly error: ApiFailure | null
  readonly isSaving: boolean
  /** What was stored last. */
  readonly said: string
  readonly onSave: () => void
  readonly onCancel: () => void
}

/** The gathered changes of a list, stored at once. */
export const ChangesBar = ({ count, error, isSaving, said, onSave, onCancel }: ChangesBarProps) => (
  <div className="stack">
    <Fault error={error} />
    <div className="row">
      <Button disabled={count === 0 || isSaving} onClick={onSave}>
        {isSaving ? 'Saving…' : 'Save'}
      </Button>
      <Button variant="default" disabled={count === 0} onClick={onCancel}>
        Cancel
      </Button>
      <span role="status" className="hint">
        {count === 0 ? said : count === 1 ? '1 change' : `${count} changes`}
      </span>
    </div>
    <LeaveGuard count={isSaving ? 0 : count} />
  </div>
)
