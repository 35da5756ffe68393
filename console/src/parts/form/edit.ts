import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiFailure } from '../../api/client.ts'

/** The values of a form by their names. */
export type Values = Readonly<Record<string, unknown>>

/** What was read, as the values of a form. */
export interface Version<V extends Values> {
  readonly values: V
  readonly tag: string
}

interface EditInput<V extends Values> {
  readonly read: Version<V>
  /** Reads the present version again. */
  readonly readAgain: () => Promise<Version<V>>
  /** Stores the changed values over the version with this tag. */
  readonly write: (changed: Partial<V>, context: { readonly values: V; readonly tag: string }) => Promise<unknown>
  /** The form is busy until it is done. */
  readonly onSaved: () => Promise<unknown>
}

/** A value that somebody else has changed while the person typed another one. */
export interface Conflict<V extends Values> {
  readonly field: keyof V & string
  readonly theirs: unknown
  readonly mine: unknown
}

/** A form over something that others may change too. */
export interface Edit<V extends Values> {
  readonly values: V
  readonly set: (change: Partial<V>) => void
  /** The names of the values that differ from what was read. */
  readonly changed: readonly (keyof V & string)[]
  /** Empty unless somebody else was faster; each is decided before anything is stored. */
  readonly conflicts: readonly Conflict<V>[]
  readonly decide: (field: keyof V & string, keep: 'mine' | 'theirs') => void
  /** The values of others that came in with a conflict and that the person had not touched. */
  readonly taken: readonly (keyof V & string)[]
  readonly save: () => void
  readonly reset: () => void
  readonly isSaving: boolean
  readonly error: ApiFailure | null
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Returns the names of the values in which two versions differ. */
export const differences = <V extends Values>(one: V, other: V): readonly (keyof V & string)[] =>
  Object.keys(one).filter((name) => !isSame(one[name], other[name]))

interface State<V extends Values> {
  readonly base: Version<V>
  readonly values: V
  readonly conflicts: readonly Conflict<V>[]
  readonly taken: readonly (keyof V & string)[]
}

/** Puts the person's changes on the version that somebody else has stored; what both changed is to be decided. */
export function rebased<V extends Values>({ base, values }: Pick<State<V>, 'base' | 'values'>, theirs: Version<V>): State<V> {
  const own = new Set(differences(base.values, values))
  const others = differences(base.values, theirs.values)
  const both = others.filter((field) => own.has(field) && !isSame(values[field], theirs.values[field]))
  const kept = Object.fromEntries([...own].map((field) => [field, values[field]]))
  return {
    base: theirs,
    values: { ...theirs.values, ...kept },
    conflicts: both.map((field) => ({ field, mine: values[field], theirs: theirs.values[field] })),
    taken: others.filter((field) => !own.has(field)),
  }
}

const isOutdated = (error: unknown): boolean => error instanceof ApiFailure && error.status === 412 && error.code === 'precondition_failed'

/** Returns a form whose changes are stored only over the version that the person has seen. */
export function useEdit<V extends Values>({ read, readAgain, write, onSaved }: EditInput<V>): Edit<V> {
  const [state, setState] = useState<State<V>>({ base: read, values: read.values, conflicts: [], taken: [] })
  const { base, values, conflicts, taken } = state
  const changed = differences(base.values, values)
  const save = useMutation<boolean, ApiFailure>({
    mutationFn: async () => {
      try {
        const part = Object.fromEntries(changed.map((field) => [field, values[field]])) as Partial<V>
        await write(part, { values, tag: base.tag })
        return true
      } catch (error) {
        if (!isOutdated(error)) throw error
        const theirs = await readAgain()
        setState((former) => rebased(former, theirs))
        return false
      }
    },
    onSuccess: async (isStored) => {
      if (isStored) await onSaved()
    },
  })
  return {
    values,
    set: (change) => setState((former) => ({ ...former, values: { ...former.values, ...change } })),
    changed,
    conflicts,
    taken,
    decide: (field, keep) =>
      setState((former) => ({
        ...former,
        values: keep === 'mine' ? former.values : { ...former.values, [field]: former.base.values[field] },
        conflicts: former.conflicts.filter((one) => one.field !== field),
      })),
    save: () => save.mutate(),
    reset: () => {
      setState({ base, values: base.values, conflicts: [], taken: [] })
      save.reset()
    },
    isSaving: save.isPending,
    error: save.error,
  }
}
