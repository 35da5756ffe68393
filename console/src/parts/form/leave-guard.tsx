import { Button, Modal } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'

/** Asks before changes are lost: on a link within the console, and by the browser when the window closes. */
export function LeaveGuard({ count }: { readonly count: number }) {
  const blocker = useBlocker({ shouldBlockFn: () => count > 0, enableBeforeUnload: () => count > 0, withResolver: true })
  return (
    <Modal
      opened={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      title="Leave without saving?"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <div className="stack">
        <p>{count === 1 ? '1 change will be lost.' : `${count} changes will be lost.`}</p>
        <div className="row">
          <Button data-autofocus onClick={() => blocker.reset?.()}>
            Stay
          </Button>
          <Button variant="default" onClick={() => blocker.proceed?.()}>
            Leave
          </Button>
        </div>
      </div>
    </Modal>
  )
}
