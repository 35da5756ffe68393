import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { Answer } from '../../api/client.ts'
import { useRead } from '../../api/query.ts'
import { isForPage } from '../../shell/keys.ts'
import { scopePath } from '../../shell/places.ts'
import type { Scope } from '../../shell/scope.ts'

const most = 5
type Limit = Answer<'GET /limits'>['data'][number]

/** The limits that run out, at most five; a digit opens one. Nothing is shown where there are none. */
export function Attention({ scope }: { readonly scope: Scope }) {
  const { data } = useRead('GET /limits', {
    workspace: scope.workspace,
    query: { state: 'at_risk', page_size: most, ...(scope.workspace && { workspace_id: scope.workspace }) },
  })
  const limits = data?.data ?? []
  const navigate = useNavigate()
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const limit = isForPage(event) ? limits[Number(event.key) - 1] : undefined
      const to = limit && addressOf(limit, scope)
      if (to) void navigate({ to: to as never })
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  })
  if (limits.length === 0) return null
  return (
    <section aria-label="Needs attention" className="state">
      <h2>Needs attention</h2>
      <ol>
        {limits.map((limit) => {
          const to = addressOf(limit, scope)
          return (
            <li key={`${limit.owner_kind}${limit.owner_id}${limit.group}${limit.kind}${limit.type}${limit.unit}`} className="text-of-data">
              {sentenceOf(limit)}{' '}
              {to !== null && (
                <Link to={to as never} aria-label={`Open ${limit.owner_name}`}>
                  Open
                </Link>
              )}
            </li>
          )
        })}
      </ol>
    </section>
  )
}

/** Returns the page of the owner of a limit; null: it has none yet. */
const addressOf = ({ owner_kind: kind, owner_id: id }: Limit, scope: Scope): string | null =>
  kind === 'api-key'
    ? `${scopePath(scope)}/keys/${id}`
    : kind === 'provider' && scope.kind === 'workspace'
      ? `${scopePath(scope)}/providers`
      : null

const dayMs = 86_400_000

const daysUntil = (iso: string): number => (Date.parse(iso) - Date.now()) / dayMs

const inWords = (days: number): string =>
  days < 1 ? `about ${Math.max(1, Math.round(days * 24))} hours` : `about ${Math.round(days)} days`

/** Returns a limit in a sentence: `The budget of "web" is at 82 %. It runs out in about 2 days, 4 before its reset.` */
export function sentenceOf({ owner_name: name, kind, spent, limit, runs_out_at: out, resets_at: reset }: Limit): string {
  const what = `The ${kind === 'usage' ? 'budget' : 'rate'} of "${name}" is at ${Math.round((spent / limit) * 100)} %.`
  if (out === null) return what
  const before = reset === null ? '' : `, ${Math.max(1, Math.round(daysUntil(reset) - daysUntil(out)))} days before its reset`
  return `${what} It runs out in ${inWords(daysUntil(out))}${before}.`
}
