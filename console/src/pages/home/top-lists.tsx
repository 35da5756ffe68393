import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ApiFailure } from '../../api/client.ts'
import { count, duration, picoOfCents, shortMoney } from '../../api/figures.ts'
import { useRead } from '../../api/query.ts'
import { Failed, Loading } from '../../parts/state.tsx'
import { scopePath } from '../../shell/places.ts'
import { may, type Scope } from '../../shell/scope.ts'
import { withTerm } from '../logs/filter.ts'

interface TopProps {
  readonly scope: Scope
  /** The parameters of the range, for the API and for links. */
  readonly query: Readonly<Record<string, string>>
  readonly range: Readonly<Record<string, string>>
}

const most = 5
const columns = 'cost,p95_latency'

/** The keys, models or workspaces with most requests. They are read once the figures above them are there. */
export const TopLists = (props: TopProps) => (
  <div className="charts">
    {props.scope.kind === 'organisation' ? <TopWorkspaces {...props} /> : <TopKeys {...props} />}
    <TopModels {...props} />
  </div>
)

const inScope = ({ workspace }: Scope) => (workspace === undefined ? {} : { workspace_slug: workspace })

const useGroups = ({ scope, query }: TopProps, groupBy: 'model' | 'api_key') =>
  useRead('GET /analytics/groups/{groupBy}', {
    path: { groupBy },
    workspace: scope.workspace,
    query: { ...query, ...inScope(scope), columns, page_size: most },
  })

function TopModels(props: TopProps) {
  const { data, error, refetch } = useGroups(props, 'model')
  const rows = data?.data.map((group) => ({
    id: group.key ?? '',
    name: group.key === null ? 'no model' : <LogsLink {...props} field="model" value={group.key} text={group.key} />,
    group,
  }))
  return <Top title="Top models" rows={rows} error={error} onRetry={() => void refetch()} />
}

function TopKeys(props: TopProps) {
  const { scope } = props
  const { data, error, refetch } = useGroups(props, 'api_key')
  const ids = data?.data.flatMap(({ key }) => key ?? []) ?? []
  const mayName = may(scope, 'workspace_service_api_keys.list') || may(scope, 'workspace_user_api_keys.list')
  const { data: keys } = useRead(
    'GET /api-keys',
    { workspace: scope.workspace, query: { ids: ids.join(','), page_size: most, workspace_id: scope.slug } },
    { enabled: mayName && ids.length > 0 },
  )
  const nameOf = (id: string) => keys?.data.find((one) => one.id === id)?.name ?? `…${id.slice(-6)}`
  const rows = data?.data.map((group) => ({
    id: group.key ?? '',
    name: group.key === null ? 'no key' : <LogsLink {...props} field="key" value={group.key} text={nameOf(group.key)} />,
    group,
  }))
  return <Top title="Top keys" rows={rows} error={error} onRetry={() => void refetch()} />
}

function TopWorkspaces(props: TopProps) {
  const { data, error, refetch } = useRead('GET /analytics/groups/workspaces', { query: { ...props.query, columns, page_size: 50 } })
  const rows = data?.data.map((group) => ({
    id: group.workspace_id ?? '',
    name: group.workspace_slug === null ? 'none' : <Link to={`/w/${group.workspace_slug}` as never}>{group.workspace_slug}</Link>,
    group,
  }))
  return <Top title="Workspaces" rows={rows} error={error} onRetry={() => void refetch()} />
}

interface LogsLinkProps extends TopProps {
  readonly field: string
  readonly value: string
  readonly text: string
}

/** A link to exactly the requests that a row counts. */
const LogsLink = ({ scope, range, field, value, text }: LogsLinkProps) => (
  <Link to={`${scopePath(scope)}/logs` as never} search={{ ...range, q: withTerm('', field, value) } as never}>
    {text}
  </Link>
)

interface TopRow {
  readonly id: string
  readonly name: ReactNode
  readonly group: { readonly requests: number; readonly cost?: number | null; readonly p95_latency?: number | null }
}

interface TopTableProps {
  readonly title: string
  readonly rows: readonly TopRow[] | undefined
  readonly error: ApiFailure | null
  readonly onRetry: () => void
}

function Top({ title, rows, error, onRetry }: TopTableProps) {
  if (rows === undefined) return error === null ? <Loading rows={3} /> : <Failed what="list" error={error} onRetry={onRetry} />
  return (
    <section className="stack" aria-label={title}>
      <h2>{title}</h2>
      <table className="plain" aria-label={title}>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col" className="end">
              Requests
            </th>
            <th scope="col" className="end">
              Cost
            </th>
            <th scope="col" className="end">
              p95
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, name, group: { requests, cost, p95_latency: p95 } }) => (
            <tr key={id}>
              <td className="text-of-data">{name}</td>
              <td className="end">{count(requests)}</td>
              <td className="end">{costOf(cost)}</td>
              <td className="end">{p95 === null || p95 === undefined ? '–' : duration(p95)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const costOf = (cents: number | null | undefined): string =>
  cents === null || cents === undefined ? '? Unpriced' : shortMoney(picoOfCents(cents))
