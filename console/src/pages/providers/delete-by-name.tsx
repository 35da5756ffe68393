import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { ApiFailure } from '../../api/client.ts'
import { Fault } from '../../parts/state.tsx'

interface DeleteByNameProps {
  readonly name: string
  /** The results of the deletion. */
  readonly note: string
  readonly onDelete: () => Promise<unknown>
  readonly onDone: () => void
}

/** Deletes something once its name was typed. */
export function DeleteByName({ name, note, onDelete, onDone }: DeleteByNameProps) {
  const [typed, setTyped] = useState('')
  const remove = useMutation<unknown, ApiFailure>({ mutationFn: onDelete, onSuccess: onDone })
  return (
    <section className="stack" aria-label="Delete">
      <div className="row">
        <TextInput
          label="Type the name to confirm"
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Button color="danger" disabled={typed !== name} loading={remove.isPending} onClick={() => remove.mutate()}>
          Delete
        </Button>
      </div>
      <p className="hint">{note}</p>
      <Fault error={remove.error} />
    </section>
  )
}
