import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Answer } from '../../api/client.ts'
import { count } from '../../api/figures.ts'
import { useRead } from '../../api/query.ts'
import { Failed } from '../../parts/state.tsx'
import { visible } from '../../parts/text-of-data.tsx'
import { may, type Scope } from '../../shell/scope.ts'
import { useSetting } from '../../shell/settings.ts'
import { placeOf, withoutTerm, withTerm } from './filter.ts'
import type { Row } from './use-tail.ts'

interface FacetsProps {
  readonly scope: Scope
  /** The parameters of the list. */
  readonly query: Readonly<Record<string, string>>
  /** The text of the filter. */
  readonly text: string
  /** The rows of the list, which have the names of keys and people. */
  readonly rows: readonly Row[]
  /** The list comes first. */
  readonly isWaiting: boolean
  readonly onChange: (text: string) => void
}

type Facet = Answer<'GET /logs/facets'>['data'][number]

/** The fields of the API, with their names in the filter and their headings. */
const fields: Readonly<Partial<Record<Facet['field'], readonly [term: string, heading: string]>>> = {
  status_code: ['status', 'Status'],
  ai_model: ['model', 'Model'],
  ai_org: ['provider', 'Provider'],
  virtual_keys: ['handle', 'Handle'],
  api_key_ids: ['key', 'Key'],
  user_id: ['person', 'Person'],
  configs: ['config', 'Config'],
  prompt_slug: ['prompt', 'Prompt'],
  outcome: ['outcome', 'Outcome'],
  cache_status: ['cache', 'Cache'],
  operation: ['operation', 'Operation'],
  error_code: ['error', 'Error'],
  guardrail: ['guardrail', 'Guardrail'],
  stream: ['stream', 'Stream'],
}
const inLogsAlone = 'operation,error_code,guardrail,stream'
const mostNamed = 20

/** The most frequent values of the fields of the listed requests, each with its count, to filter by them. */
export function Facets(props: FacetsProps) {
  const [shown, setShown] = useSetting('facets')
  if (shown === 'off')
    return (
      <div className="facets closed">
        <Button variant="default" onClick={() => setShown('on')}>
          Show facets
        </Button>
      </div>
    )
  return (
    <aside className="facets" aria-label="Facets">
      <Button variant="default" onClick={() => setShown('off')}>
        Hide facets
      </Button>
      <Contents {...props} />
    </aside>
  )
}

function Contents(props: FacetsProps) {
  const { scope, query, isWaiting } = props
  const { q: words, ...counted } = query
  const [more, setMore] = useState(false)
  const asked = (fields: string) => ({ workspace: scope.workspace, query: { ...counted, ...(fields && { fields }) } as never })
  const usual = useRead('GET /logs/facets', asked(''), { enabled: !isWaiting && words === undefined })
  const rest = useRead('GET /logs/facets', asked(inLogsAlone), { enabled: more && words === undefined })
  const nameOf = useNames(props, usual.data?.data ?? [])
  if (words !== undefined) return <p className="hint">Words in bodies cannot be counted.</p>
  const failed = [usual, rest].find(({ error, data }) => error !== null && data === undefined)
  if (failed?.error) return <Failed what="list" error={failed.error} onRetry={() => void failed.refetch()} />
  if (usual.data === undefined) return null
  const facets = [...usual.data.data, ...(rest.data?.data ?? [])]
  return (
    <>
      {facets.map((facet) => (
        <Values key={facet.field} facet={facet} {...props} nameOf={nameOf} />
      ))}
      {!more && (
        <Button variant="default" onClick={() => setMore(true)}>
          More fields
        </Button>
      )}
    </>
  )
}

type NameOf = (field: Facet['field'], value: string) => string

/** Returns the names of keys and people: those of the rows, and of keys that are in none of them, from the list of keys. */
function useNames({ scope, rows }: FacetsProps, facets: readonly Facet[]): NameOf {
  const known = new Map(
    rows.flatMap(({ api_key_id: key, api_key_name: name, user_id: user, user_name: person }) => [
      [key, name],
      [user ?? '', person],
    ]),
  )
  const keys = facets.find(({ field }) => field === 'api_key_ids')?.values.flatMap(({ value }) => value ?? []) ?? []
  const unknown = keys.filter((id) => !known.get(id)).slice(0, mostNamed)
  const mayName = may(scope, 'workspace_service_api_keys.list') || may(scope, 'workspace_user_api_keys.list')
  const { data } = useRead(
    'GET /api-keys',
    { workspace: scope.workspace, query: { ids: unknown.join(','), page_size: mostNamed, workspace_id: scope.slug } },
    { enabled: scope.kind === 'workspace' && mayName && unknown.length > 0 },
  )
  return (field, value) => {
    if (field !== 'api_key_ids' && field !== 'user_id') return value
    return known.get(value) ?? data?.data.find(({ id }) => id === value)?.name ?? `…${value.slice(-6)}`
  }
}

interface ValuesProps extends Pick<FacetsProps, 'text' | 'onChange'> {
  readonly facet: Facet
  readonly nameOf: NameOf
}

function Values({ facet: { field, values, complete }, text, onChange, nameOf }: ValuesProps) {
  const [term, heading] = fields[field] ?? ['', '']
  if (term === '' || values.every(({ value }) => value === null)) return null
  return (
    <section aria-label={heading}>
      <h2>{heading}</h2>
      {!complete && <p className="hint">Of the latest 2,000 requests.</p>}
      <ul>
        {values.map(({ value, count: requests }) =>
          // A comma separates values in the filter, so that a value with one cannot be asked for.
          value === null || value.includes(',') ? (
            <li key={value ?? 'none'} className="facet">
              <span className="muted text-of-data">{value === null ? 'none' : visible(nameOf(field, value))}</span>{' '}
              <span className="muted">{count(requests)}</span>
            </li>
          ) : (
            <Value key={value} {...{ term, value, requests, text, onChange }} name={visible(nameOf(field, value))} />
          ),
        )}
      </ul>
    </section>
  )
}

interface ValueProps extends Pick<FacetsProps, 'text' | 'onChange'> {
  readonly term: string
  readonly value: string
  readonly name: string
  readonly requests: number
}

/** Fields of which a value cannot be left out. */
const onlyKept: ReadonlySet<string> = new Set(['guardrail'])

function Value({ term, value, name, requests, text, onChange }: ValueProps) {
  const at = placeOf(text, term, value)
  return (
    <li className="facet">
      <button
        type="button"
        aria-pressed={at !== -1}
        aria-label={`${name}, ${count(requests)} ${requests === 1 ? 'request' : 'requests'}`}
        onClick={() => onChange(at === -1 ? withTerm(text, term, value) : withoutTerm(text, at))}
      >
        <span className="text-of-data">{name}</span> <span>{count(requests)}</span>
      </button>
      {!onlyKept.has(term) && (
        <button type="button" aria-label={`Filter out ${term} ${name}`} onClick={() => onChange(withTerm(text, `-${term}`, value))}>
          −
        </button>
      )}
    </li>
  )
}
