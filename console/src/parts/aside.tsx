import { Button } from '@mantine/core'
import type { ReactNode } from 'react'

interface AsideProps {
  readonly label: string
  /** The first row, before the button that closes the panel. */
  readonly head: ReactNode
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A panel beside a list, for the row that is open. */
export const Aside = ({ label, head, onClose, children }: AsideProps) => (
  <aside className="aside" aria-label={label}>
    <div className="row">
      {head}
      <Button variant="default" onClick={onClose}>
        Close
      </Button>
    </div>
    {children}
  </aside>
)
