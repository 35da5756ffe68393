import { Button } from '@mantine/core'
import { useState } from 'react'

interface CopyProps {
  readonly text: string
  readonly label: string
  readonly word?: string
}

/** A button that copies a text and says so. Without the clipboard, as on plain HTTP, it selects the text nearby instead. */
export function Copy({ text, label, word = 'Copy' }: CopyProps) {
  const [said, setSaid] = useState('')
  const copy = () =>
    copyText(text).then(
      () => setSaid('Copied'),
      () => setSaid('Select it and copy by hand'),
    )
  return (
    <>
      <Button variant="default" size="compact-xs" aria-label={label} onClick={() => void copy()}>
        {word}
      </Button>{' '}
      <span role="status">{said}</span>
    </>
  )
}

async function copyText(text: string): Promise<void> {
  if (navigator.clipboard === undefined) throw new Error('no clipboard')
  await navigator.clipboard.writeText(text)
}
