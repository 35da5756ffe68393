import { Button, Modal, NativeSelect, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { call, newOnce, type Answer, type ApiFailure } from '../../api/client.ts'
import { forget, useRead } from '../../api/query.ts'
import { Failed, Fault, Loading } from '../../parts/state.tsx'
import type { Search } from '../../shell/address.ts'
import type { Scope } from '../../shell/scope.ts'
import { useMe } from '../../shell/session.tsx'
import { restored, storedOf, type StoredFilter } from './stored-filter.ts'

interface SavedViewsProps {
  readonly scope: Scope
  /** What is seen: the parameters of the list, and its columns. */
  readonly query: Readonly<Record<string, string>>
  readonly isNamedRange: boolean
  readonly columns: readonly string[]
  readonly onOpen: (search: Search) => void
}

type View = Answer<'GET /saved-filters'>['data'][number]

/** Opens the saved views of the workspace: a filter, a range between two moments, and columns. */
export function SavedViews(props: SavedViewsProps) {
  const [isOpen, setOpen] = useState(false)
  if (props.scope.kind !== 'workspace') return null
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        Saved views
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="Saved views" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
        <Views
          {...props}
          onOpen={(search) => {
            setOpen(false)
            props.onOpen(search)
          }}
        />
      </Modal>
    </>
  )
}

/** Returns what is seen as a view has it. A range by its name moves with the clock, and is no part of it. */
function seenOf({ query, isNamedRange }: SavedViewsProps): StoredFilter {
  const { time_of_generation_min: min, time_of_generation_max: max, ...rest } = storedOf(query)
  return isNamedRange ? rest : { ...rest, time_of_generation_min: min, ...(max !== undefined && { time_of_generation_max: max }) }
}

function Views(props: SavedViewsProps) {
  const { scope, onOpen } = props
  const { data, error, refetch } = useRead('GET /saved-filters', {
    workspace: scope.workspace,
    query: { type: 'logs', page_size: 100, ...(scope.workspace && { workspace_id: scope.workspace }) },
  })
  const open = ({ filters, columns }: View) => {
    const { q, from, to } = restored(filters)
    onOpen({ q, from, to, ...(from !== '' && { t: '' }), cols: columns?.join(',') ?? '', log: '' })
  }
  return (
    <div className="stack">
      {data === undefined && (error === null ? <Loading rows={3} /> : <Failed what="list" error={error} onRetry={() => void refetch()} />)}
      {data?.data.length === 0 && <p className="muted">No views yet. A view keeps the filter and the columns under a name.</p>}
      {data !== undefined && data.data.length > 0 && (
        <ul className="plain-list" aria-label="Saved views">
          {data.data.map((view) => (
            <ViewRow key={view.id} view={view} {...props} onOpen={() => open(view)} />
          ))}
        </ul>
      )}
      <SaveForm {...props} />
    </div>
  )
}

interface ViewRowProps extends Omit<SavedViewsProps, 'onOpen'> {
  readonly view: View
  readonly onOpen: () => void
}

function ViewRow({ view, onOpen, ...seen }: ViewRowProps) {
  const { scope, columns } = seen
  const { user } = useMe()
  const [isAsked, setAsked] = useState(false)
  const place = { path: { filterId: view.id }, workspace: scope.workspace }
  const remove = useMutation<unknown, ApiFailure>({
    mutationFn: () => call('DELETE /saved-filters/{filterId}', place),
    onSuccess: () => forget('GET /saved-filters'),
  })
  const replace = useMutation<unknown, ApiFailure>({
    mutationFn: () =>
      call('PUT /saved-filters/{filterId}', {
        ...place,
        body: { filters: seenOf({ ...seen, onOpen }), columns: [...columns] } as never,
      }),
    onSuccess: () => forget('GET /saved-filters'),
  })
  const owner = view.owner?.id === user.id ? 'Mine' : (view.owner?.email ?? 'of a program')
  const isUnread = restored(view.filters).unknown
  return (
    <li className="stack">
      <div className="row">
        <span className="grows text-of-data">
          <button type="button" className="link" onClick={onOpen}>
            {view.name}
          </button>{' '}
          <span className="hint">
            {owner}, {view.visibility === 'private' ? 'seen by me alone' : 'seen by the workspace'}
          </span>
        </span>
        <Button variant="default" aria-label={`Replace ${view.name}`} loading={replace.isPending} onClick={() => replace.mutate()}>
          Replace
        </Button>
        {isAsked ? (
          <Button color="danger" aria-label={`Delete ${view.name} for good`} loading={remove.isPending} onClick={() => remove.mutate()}>
            Delete for good
          </Button>
        ) : (
          <Button variant="default" aria-label={`Delete ${view.name}`} onClick={() => setAsked(true)}>
            Delete
          </Button>
        )}
      </div>
      {isUnread.length > 0 && <p className="hint">This page does not have its filters {isUnread.join(', ')}: they do not apply here.</p>}
      {replace.isSuccess && <p role="status">It has what is seen now.</p>}
      <Fault error={remove.error ?? replace.error} />
    </li>
  )
}

const visibilities = [
  { value: 'private', label: 'Me alone' },
  { value: 'workspace', label: 'The workspace' },
]

function SaveForm(props: SavedViewsProps) {
  const { scope, query, isNamedRange, columns } = props
  const [name, setName] = useState('')
  const [visibility, setVisibility] = useState('private')
  const [once, setOnce] = useState(newOnce)
  const save = useMutation<unknown, ApiFailure>({
    mutationFn: () =>
      call('POST /saved-filters', {
        workspace: scope.workspace,
        once,
        body: { name, type: 'logs', filters: seenOf(props), columns: [...columns], visibility } as never,
      }),
    onSuccess: async () => {
      setName('')
      setOnce(newOnce())
      await forget('GET /saved-filters')
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form className="stack" aria-label="Save a view" onSubmit={submit}>
      <div className="row">
        <TextInput label="Name" required value={name} onChange={(event) => setName(event.currentTarget.value)} />
        <NativeSelect
          label="Seen by"
          data={visibilities}
          value={visibility}
          onChange={(event) => setVisibility(event.currentTarget.value)}
        />
        <Button type="submit" disabled={name.trim() === ''} loading={save.isPending}>
          Save view
        </Button>
      </div>
      <p className="hint">
        It keeps the filter and the columns.{' '}
        {isNamedRange ? 'A range such as the last 24 hours is chosen anew each time.' : 'It keeps the range, too.'}
        {query['q'] !== undefined && ' Words in bodies are not kept.'}
      </p>
      <Fault error={save.error} />
    </form>
  )
}
