export type Tone = 'ok' | 'warn' | 'danger' | 'info' | 'policy' | 'neutral'

const signs: Readonly<Record<Tone, string>> = { ok: '●', warn: '◆', danger: '▲', info: '◷', policy: '⛨', neutral: '○' }

interface StatusProps {
  readonly tone: Tone
  readonly word: string
}

/** A state in three ways at once: a sign, a word and a colour. */
export const Status = ({ tone, word }: StatusProps) => (
  <span className={`chip ${tone}`}>
    <span aria-hidden="true">{signs[tone]}</span>
    {word}
  </span>
)

interface Exchange {
  readonly response_status_code: number
  readonly outcome: string
  readonly provider_name?: string | null
  readonly attempts?: { readonly count: number } | null
}

/** Returns the words for the end of a request. */
export function statusOf({ response_status_code: status, outcome, attempts }: Exchange): StatusProps {
  if (outcome === 'client_closed' || status === 499) return { tone: 'neutral', word: 'Client left' }
  if (outcome === 'incomplete') return { tone: 'neutral', word: `${status} Cut short` }
  const own = named[status]
  if (own !== undefined) return { tone: own[0], word: `${status} ${own[1]}` }
  if (status < 300) return { tone: 'ok', word: `${status} OK` }
  if (status < 400) return { tone: 'info', word: `${status} Redirected` }
  if (status < 500) return { tone: 'warn', word: `${status} Refused ${(attempts?.count ?? 0) > 0 ? 'by the provider' : 'here'}` }
  return { tone: 'danger', word: `${status} Provider failed` }
}

const named: Readonly<Record<number, readonly [tone: Tone, word: string]>> = {
  246: ['warn', 'Passed with a warning'],
  408: ['danger', 'Timed out'],
  412: ['warn', 'Over budget'],
  429: ['warn', 'Over rate'],
  446: ['policy', 'Blocked'],
}

/** Returns the words for the state of a key or a provider. */
export const lifeOf = (status: string): StatusProps => lives[status] ?? { tone: 'neutral', word: status }
const lives: Readonly<Record<string, StatusProps>> = {
  active: { tone: 'ok', word: 'Active' },
  exhausted: { tone: 'warn', word: 'Exhausted' },
  expired: { tone: 'neutral', word: 'Expired' },
  archived: { tone: 'neutral', word: 'Archived' },
}
