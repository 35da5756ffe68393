import { Button } from '@mantine/core'
import { useEffect, useState, type ReactNode } from 'react'
import type { ApiFailure } from '../api/client.ts'
import { Copy } from './copy.tsx'

interface StateProps {
  readonly title: string
  readonly children?: ReactNode
  readonly alert?: boolean
}

/** A region in place of contents: nothing there, failed, forbidden. */
export const State = ({ title, children, alert = false }: StateProps) => (
  <section className="state" role={alert ? 'alert' : undefined}>
    <h2>{title}</h2>
    {children}
  </section>
)

/** A skeleton of the true shape, which appears only when the wait is long enough to be noticed. */
export function Loading({ rows = 6 }: { readonly rows?: number }) {
  const [phase, setPhase] = useState(0)
  useEffect(() => {
    const timers = [200, 8000].map((ms, at) => setTimeout(() => setPhase(at + 1), ms))
    return () => timers.forEach(clearTimeout)
  }, [])
  if (phase === 0) return null
  return (
    <div className="stack" role="status" aria-label="Loading">
      {phase === 2 && <p className="muted">Still working.</p>}
      {Array.from({ length: rows }, (_, at) => (
        <div key={at} className="skeleton" aria-hidden="true" />
      ))}
    </div>
  )
}

interface FailedProps {
  readonly what: string
  readonly error: ApiFailure
  readonly onRetry: () => void
}

/** The reason that something did not load, in the words of the API. */
export function Failed({ what, error, onRetry }: FailedProps) {
  if (error.status === 503) return <Away error={error} onRetry={onRetry} />
  if (error.status === 403) return <Forbidden error={error} />
  return (
    <State title={error.status === 404 ? `There is no ${what} here.` : `This ${what} did not load.`} alert>
      <p>{error.status === 404 ? 'It may have been deleted, or be in another workspace.' : error.message}</p>
      <RequestId id={error.requestId} />
      <Button onClick={onRetry}>Try again</Button>
    </State>
  )
}

const RequestId = ({ id }: { readonly id: string | null }) =>
  id === null ? null : (
    <p className="hint">
      Request <code>{id}</code> <Copy text={id} label="Copy the request id" />
    </p>
  )

const sealedCode = 'sealed'
const pauseSeconds = 5

/** The database is away: it is tried again by itself. */
function Away({ error, onRetry }: Pick<FailedProps, 'error' | 'onRetry'>) {
  const [left, setLeft] = useState(pauseSeconds)
  const isSealed = error.code === sealedCode
  useEffect(() => {
    if (isSealed) return
    const timer = setInterval(() => setLeft((seconds) => seconds - 1), 1000)
    return () => clearInterval(timer)
  }, [isSealed])
  useEffect(() => {
    if (left > 0) return
    setLeft(pauseSeconds)
    onRetry()
  }, [left, onRetry])
  if (isSealed)
    return (
      <State title="Gatehouse is sealed." alert>
        <p>
          It has no valid encryption key, so nothing can be decrypted. Set ENCRYPTION_KEY and restart. <code>gatehouse doctor</code> tells
          more.
        </p>
      </State>
    )
  return (
    <State title="The database does not answer." alert>
      <p>Requests to models go on; this page cannot. Trying again in {left} s.</p>
      <RequestId id={error.requestId} />
      <Button onClick={onRetry}>Try again</Button>
    </State>
  )
}

/** Something that the person has no right to. */
export const Forbidden = ({ right, error }: { readonly right?: string; readonly error?: ApiFailure }) => (
  <State title="You cannot see this." alert>
    <p>{error?.message ?? `It needs ${right ?? 'a right'}, which you do not have here. Ask an admin.`}</p>
    {error !== undefined && <RequestId id={error.requestId} />}
  </State>
)

/** The sentence of a failed write, above the buttons of its form. */
export const Fault = ({ error }: { readonly error: ApiFailure | null }) =>
  error === null ? null : (
    <div role="alert" className="state">
      <p>{error.message}</p>
      {error.issues.length > 1 && (
        <ul>
          {error.issues.map(({ param, message }) => (
            <li key={param}>
              <code>{param}</code>: {message}
            </li>
          ))}
        </ul>
      )}
      <RequestId id={error.requestId} />
    </div>
  )
