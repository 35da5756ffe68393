import { Button, Checkbox, Modal, NativeSelect } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call, newOnce, type Answer, type ApiFailure } from '../../api/client.ts'
import { bytes, count } from '../../api/figures.ts'
import { useRead } from '../../api/query.ts'
import { Facts } from '../../parts/facts.tsx'
import { Failed, Fault, Loading } from '../../parts/state.tsx'
import { may, type Scope } from '../../shell/scope.ts'
import { storedOf } from './stored-filter.ts'

interface ExportProps {
  readonly scope: Scope
  /** The parameters of the list. */
  readonly query: Readonly<Record<string, string>>
}

const right = 'logs.export'

/** Opens the export of the requests that are seen. Without the right the button says which one. */
export function ExportLogs(props: ExportProps) {
  const [isOpen, setOpen] = useState(false)
  const lacks = !may(props.scope, right)
  return (
    <>
      <Button
        variant="default"
        aria-disabled={lacks}
        title={lacks ? `Needs ${right}. Ask an admin of ${props.scope.name}.` : undefined}
        onClick={() => setOpen(!lacks)}
      >
        Export
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="Export" closeButtonProps={{ 'aria-label': 'Close' }}>
        <Export {...props} />
      </Modal>
    </>
  )
}

/** The fields of a row, and those that are as large as the bodies. */
const fields = [
  'id',
  'created_at',
  'workspace_slug',
  'ai_org',
  'ai_model',
  'virtual_key',
  'api_key_id',
  'user_id',
  'request_url',
  'response_status_code',
  'is_success',
  'outcome',
  'error_code',
  'response_time',
  'req_units',
  'res_units',
  'total_units',
  'cost_pico_usd',
  'cost_state',
  'cache_status',
  'config',
  'prompt_slug',
  'trace_id',
  'metadata',
] as const
const bodyFields = ['request', 'response'] as const

const formats = [
  { value: 'csv', label: 'CSV' },
  { value: 'jsonl', label: 'JSON lines' },
  { value: 'parquet', label: 'Parquet' },
]

type Draft = Readonly<Record<string, unknown>>

function Export({ scope, query }: ExportProps) {
  const [format, setFormat] = useState('csv')
  const [withBodies, setWithBodies] = useState(false)
  const [once, setOnce] = useState(newOnce)
  const wanted = withBodies ? [...fields, ...bodyFields] : [...fields]
  const [draft] = useState<Draft>(() => ({
    filters: storedOf(query),
    ...(scope.workspace !== undefined && { workspace_id: scope.workspace }),
  }))
  const estimate = useEstimate({ scope, draft: { ...draft, format, requested_data: wanted } })
  const denied = estimate.data?.denied_fields.map(({ field }) => field) ?? []
  const start = useMutation<string, ApiFailure>({
    mutationFn: async () => {
      const body = { ...draft, format, requested_data: wanted.filter((name) => !denied.includes(name)) }
      const { id } = await call('POST /logs/exports', { workspace: scope.workspace, once, body: body as never })
      await call('POST /logs/exports/{exportId}/start', { workspace: scope.workspace, path: { exportId: id } })
      return id
    },
    onSuccess: () => setOnce(newOnce()),
  })
  if (start.data !== undefined) return <Running id={start.data} scope={scope} />
  return (
    <div className="stack">
      <p>All requests of the range and the filter, also those that the list has not loaded.</p>
      {query['q'] !== undefined && (
        <p role="alert" className="chip warn fault">
          Words in bodies are no filter of exports: the file has the requests without those words, too.
        </p>
      )}
      <NativeSelect label="Format" data={formats} value={format} onChange={(event) => setFormat(event.currentTarget.value)} />
      <Checkbox
        label="With the bodies of requests and answers"
        checked={withBodies}
        onChange={(event) => setWithBodies(event.currentTarget.checked)}
      />
      <Estimate estimate={estimate} />
      {denied.length > 0 && <p className="hint">The organisation lets no export have {denied.join(', ')}.</p>}
      <Fault error={start.error} />
      <div className="row">
        <Button disabled={estimate.data === undefined} loading={start.isPending} onClick={() => start.mutate()}>
          Start export
        </Button>
      </div>
    </div>
  )
}

type Size = Answer<'POST /logs/exports/estimate'>

const useEstimate = ({ scope, draft }: { readonly scope: Scope; readonly draft: Draft }) =>
  useRead('POST /logs/exports/estimate', { workspace: scope.workspace, body: draft as never })

function Estimate({ estimate: { data, error, refetch } }: { readonly estimate: ReturnType<typeof useEstimate> }) {
  if (data === undefined)
    return error === null ? <Loading rows={2} /> : <Failed what="estimate" error={error} onRetry={() => void refetch()} />
  return <Facts facts={sizeOf(data)} />
}

const sizeOf = ({ rows, bytes: size, is_exact: isExact }: Size): readonly (readonly [string, string])[] => [
  ['Rows', rows === null ? 'It would take too long to count them.' : `${isExact ? '' : 'about '}${count(rows)}`],
  ['Size', size === null ? '' : `about ${bytes(size)}`],
]

const pollMs = 1000
const isRunning = (status: string | undefined): boolean => status === undefined || status === 'in_progress' || status === 'draft'

/** An export that has been started, to its end. */
function Running({ id, scope }: { readonly id: string; readonly scope: Scope }) {
  const [over, setOver] = useState(false)
  const asked = { path: { exportId: id }, workspace: scope.workspace }
  const { data, error, refetch } = useRead('GET /logs/exports/{exportId}', asked, over ? { staleTime: 0 } : { refetchInterval: pollMs })
  if (data !== undefined && !isRunning(data.status) && !over) setOver(true)
  const file = useRead('GET /logs/exports/{exportId}/download', asked, { enabled: data?.status === 'success', staleTime: 0 })
  const cancel = useMutation<unknown, ApiFailure>({
    mutationFn: () => call('POST /logs/exports/{exportId}/cancel', asked),
    onSuccess: () => refetch(),
  })
  if (data === undefined)
    return error === null ? <Loading rows={2} /> : <Failed what="export" error={error} onRetry={() => void refetch()} />
  return (
    <div className="stack">
      <p role="status">{words[data.status]}</p>
      <Facts
        facts={[
          ['Rows', count(data.rows)],
          ['Size', bytes(data.bytes)],
          ['SHA-256', data.sha256],
          ['Reason', data.error],
        ]}
      />
      <div className="row">
        {isRunning(data.status) && (
          <Button variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
            Stop
          </Button>
        )}
        {file.data !== undefined && (
          <Button component="a" href={placeOf(file.data.signed_url)} download>
            Download
          </Button>
        )}
      </div>
      <Fault error={cancel.error ?? file.error} />
    </div>
  )
}

const words: Readonly<Record<string, string>> = {
  draft: 'It has not begun yet.',
  in_progress: 'It is being written. It goes on when this window is closed.',
  success: 'The file is ready.',
  failed: 'It failed.',
  stopped: 'It was stopped, and has no file.',
}

/** Returns the address of a file at this origin, under whichever name the person has reached it. */
const placeOf = (url: string): string => {
  const { pathname, search } = new URL(url)
  return pathname + search
}
