import { Button } from '@mantine/core'
import type { ErrorComponentProps } from '@tanstack/react-router'
import { State } from '../parts/state.tsx'

/** A page that broke, or one of a former build whose file is gone. */
export function Broken({ error: thrown }: ErrorComponentProps) {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const isStale = /dynamically imported module|module script failed|preload/i.test(error.message)
  return (
    <State title={isStale ? 'Gatehouse was updated.' : 'This page broke.'} alert>
      <p>{isStale ? 'This tab is of the former build. Reload it to go on.' : error.message}</p>
      <Button onClick={() => location.reload()}>Reload</Button>
    </State>
  )
}
