import { Button, Modal, TextInput } from '@mantine/core'
import { Copy } from './copy.tsx'

interface RevealProps {
  readonly title: string
  readonly label: string
  /** Null: there is nothing to show. */
  readonly secret: string | null
  readonly note: string
  readonly onClose: () => void
}

/** Shows a secret once, with the focus on it. After closing nothing of it is left in the document. */
export const Reveal = ({ title, label, secret, note, onClose }: RevealProps) => (
  <Modal
    opened={secret !== null}
    onClose={onClose}
    title={title}
    closeOnClickOutside={false}
    transitionProps={{ duration: 0 }}
    closeButtonProps={{ 'aria-label': 'Close' }}
  >
    {secret !== null && (
      <div className="stack">
        <p>{note}</p>
        <TextInput label={label} readOnly value={secret} data-autofocus onFocus={(event) => event.currentTarget.select()} />
        <div className="row">
          <Copy text={secret} label="Copy key" word="Copy key" />
          <Copy text={`GATEHOUSE_API_KEY=${secret}`} label="Copy as .env" word="Copy as .env" />
        </div>
        <div className="row">
          <Button onClick={onClose}>I have it</Button>
        </div>
      </div>
    )}
  </Modal>
)
