import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { call, type Answer, type ApiFailure } from '../../api/client.ts'
import { forget } from '../../api/query.ts'
import { Page } from '../../parts/page.tsx'
import { PagedGrid } from '../../parts/paged-grid.tsx'
import { Failed, Loading } from '../../parts/state.tsx'
import { useAddress, type Search } from '../../shell/address.ts'
import { useScope, type Scope } from '../../shell/scope.ts'
import { useZone } from '../../shell/zone.ts'
import { useCellMenu } from './cell-menu.tsx'
import { ColumnChooser } from './column-chooser.tsx'
import { ExportLogs } from './export-logs.tsx'
import { SavedViews } from './saved-views.tsx'
import { Facets } from './facets.tsx'
import { FilterBar } from './filter-bar.tsx'
import { readFilter } from './filter.ts'
import { LogPanel } from './log-panel.tsx'
import { Nothing } from './nothing.tsx'
import { OverTime } from './over-time.tsx'
import { endsOf } from './range.ts'
import { TailState } from './tail-state.tsx'
import { Tools } from './tools.tsx'
import { useColumns, type Columns } from './use-columns.ts'
import { useRange } from './use-range.ts'
import { useTail, type Row, type Tail } from './use-tail.ts'

/** Lists what happened, and what is happening. */
export function LogsPage() {
  const scope = useScope()
  return scope === null ? null : <Logs key={scope.slug + scope.kind} scope={scope} />
}

const pageSize = '50'
const mostPages = 200

type List = Answer<'GET /logs'>

function useLogs(scope: Scope, query: Readonly<Record<string, string>>) {
  return useInfiniteQuery<List, ApiFailure, { pages: List[] }, readonly unknown[], string>({
    queryKey: ['GET /logs', scope.workspace, query],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      call('GET /logs', { query: { ...query, page_size: pageSize, after: pageParam } as never, workspace: scope.workspace, signal }),
    getNextPageParam: (last) => last.next_cursor,
    maxPages: mostPages,
  })
}

function Logs({ scope }: { readonly scope: Scope }) {
  const [search, change] = useAddress()
  const [zone, setZone] = useZone()
  const text = search['q'] ?? ''
  const filter = useMemo(() => readFilter(text), [text])
  const place: Search = scope.workspace === undefined ? {} : { workspace_id: scope.workspace }
  const range = useRange(search)
  const list = useLogs(scope, { ...place, ...range.query, ...filter.query })
  const refresh = () => {
    range.renew()
    void forget('GET /logs', 'GET /analytics/overview', 'GET /logs/facets')
  }
  const columns = useColumns({ zone, withWorkspace: scope.kind === 'organisation' }, [search, change])
  const setText = (q: string) => change({ q, log: '' })
  const { menu, onCell } = useCellMenu({ columns: columns.shown, text, onChange: setText })
  const isLive = search['live'] === '1'
  const tail = useTail(isLive, scope, filter.query)
  const fresh = useFreshRows(tail)
  const stored = useMemo(() => list.data?.pages.flatMap((page) => page.data) ?? [], [list.data])
  const rows = useMemo(() => merged(fresh.shown, stored), [fresh.shown, stored])
  const opened = search['log'] ?? null
  const step = (by: number) => {
    const to = rows[rows.findIndex(({ id }) => id === opened) + by]
    if (to !== undefined) change({ log: to.id }, { replace: true })
  }
  const contents =
    list.data === undefined ? (
      <Waiting error={list.error} onRetry={() => void list.refetch()} />
    ) : rows.length === 0 ? (
      <Nothing text={text} scope={scope} onClear={() => change({ q: '' })} onWiden={() => change({ t: '7d', from: '', to: '' })} />
    ) : (
      <Rows
        list={list}
        rows={rows}
        columns={columns}
        onCell={onCell}
        opened={opened}
        onOpen={({ id }) => change({ log: id }, { replace: opened !== null })}
      />
    )
  return (
    <Page
      title="Logs"
      tools={
        <Tools search={search} change={change} zone={zone} setZone={setZone} onRefresh={refresh}>
          <SavedViews
            scope={scope}
            query={{ ...range.query, ...filter.query }}
            isNamedRange={endsOf(search) === null}
            columns={columns.shown.map(({ id }) => id)}
            onOpen={change}
          />
          <ColumnChooser columns={columns} />
          <ExportLogs scope={scope} query={{ ...range.query, ...filter.query }} />
        </Tools>
      }
    >
      <FilterBar text={text} onChange={setText} faults={filter.faults} terms={filter.terms.map((term) => term.text)} />
      <OverTime
        scope={scope}
        zone={zone}
        query={{ ...range.query, ...filter.query }}
        onRange={({ from, to }) => change({ from, to, t: '', log: '', live: '' })}
      />
      {isLive && <TailState tail={tail} />}
      {fresh.waiting > 0 && (
        <div className="row">
          <Button variant="light" onClick={fresh.show}>
            {fresh.waiting} new {fresh.waiting === 1 ? 'row' : 'rows'}
          </Button>
        </div>
      )}
      <div className={`beside with-facets${opened === null ? ' single' : ''}`}>
        <Facets
          scope={scope}
          query={{ ...place, ...range.query, ...filter.query }}
          text={text}
          rows={rows}
          isWaiting={list.data === undefined}
          onChange={setText}
        />
        <div {...fresh.reading}>{contents}</div>
        {menu}
        {opened !== null && (
          <LogPanel
            id={opened}
            scope={scope}
            zone={zone}
            row={rows.find(({ id }) => id === opened)}
            onOpen={(id) => change({ log: id })}
            onClose={() => change({ log: '' })}
            onStep={step}
          />
        )}
      </div>
    </Page>
  )
}

const merged = (fresh: readonly Row[], stored: readonly Row[]): readonly Row[] => {
  const known = new Set(stored.map(({ id }) => id))
  return [...fresh.filter(({ id }) => !known.has(id)), ...stored]
}

const Waiting = ({ error, onRetry }: { readonly error: ApiFailure | null; readonly onRetry: () => void }) =>
  error === null ? <Loading rows={12} /> : <Failed what="list" error={error} onRetry={onRetry} />

/** Decides which of the new rows are shown: none moves under the pointer or the focus, they wait behind a button. */
function useFreshRows({ rows }: Tail) {
  const [shown, setShown] = useState<readonly Row[]>([])
  const [isReading, setReading] = useState(false)
  useEffect(() => {
    if (!isReading || rows.length === 0) setShown(rows)
  }, [isReading, rows])
  const waiting = isReading ? rows.filter(({ id }) => !shown.some((row) => row.id === id)).length : 0
  const [begin, end] = [() => setReading(true), () => setReading(false)]
  return { shown, waiting, show: () => setShown(rows), reading: { onMouseEnter: begin, onMouseLeave: end, onFocus: begin, onBlur: end } }
}

interface RowsProps {
  readonly list: ReturnType<typeof useLogs>
  readonly rows: readonly Row[]
  readonly columns: Columns
  readonly onCell: ReturnType<typeof useCellMenu>['onCell']
  readonly opened: string | null
  readonly onOpen: (row: Row) => void
}

function Rows({ list: { hasNextPage, isFetchingNextPage, fetchNextPage }, rows, columns, onCell, opened, onOpen }: RowsProps) {
  return (
    <PagedGrid
      label="Logs"
      columns={columns.shown}
      onWidth={columns.setWidth}
      onCell={onCell}
      rows={rows}
      idOf={(row) => row.id}
      selected={opened}
      onOpen={onOpen}
      hasMore={hasNextPage}
      isReading={isFetchingNextPage}
      readMore={() => void (isFetchingNextPage || fetchNextPage())}
    />
  )
}
