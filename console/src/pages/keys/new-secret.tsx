import { moment } from '../../api/figures.ts'
import { Reveal } from '../../parts/reveal.tsx'
import type { NewSecret } from './key-actions.tsx'
import { texts } from './texts.ts'

interface NewSecretDialogProps {
  readonly fresh: NewSecret | null
  readonly onClose: () => void
}

/** Shows a new secret once, and says until when the former one serves. */
export const NewSecretDialog = ({ fresh, onClose }: NewSecretDialogProps) => (
  <Reveal
    title="Your new key"
    label="Your key"
    secret={fresh?.secret ?? null}
    note={fresh?.until ? `${texts.once} The old key serves until ${moment(fresh.until, 'utc')} UTC.` : texts.once}
    onClose={onClose}
  />
)
