import { useQuery } from '@tanstack/react-query'
import { readReadiness, type ApiFailure, type Readiness } from '../../api/client.ts'
import { Facts } from '../../parts/facts.tsx'
import { Failed, Loading } from '../../parts/state.tsx'
import { Status, type Tone } from '../../parts/status.tsx'

const states = {
  pass: ['ok', 'Healthy'],
  warn: ['warn', 'Degraded'],
  fail: ['danger', 'Failing'],
} as const satisfies Readonly<Record<string, readonly [Tone, string]>>

/** The names of the checks for people. */
const names: Readonly<Record<string, string>> = {
  database: 'Database',
  migrations: 'Schema',
  snapshot: 'Keys and providers in memory',
  encryption_key: 'Encryption key',
  journal: 'Journal of requests',
  limits: 'Limits',
  clock: 'Clock',
  certificate: 'Certificate',
  draining: 'Shutdown',
}

const rereadMs = 5_000

/** The state of the process that answers; it is read without the database. */
export function Health() {
  const { data, error, refetch } = useQuery<Readiness, ApiFailure>({
    queryKey: ['readyz'],
    queryFn: readReadiness,
    refetchInterval: rereadMs,
    staleTime: 0,
  })
  if (data === undefined) return error === null ? <Loading /> : <Failed what="page" error={error} onRetry={() => void refetch()} />
  return (
    <div className="stack">
      <Facts
        facts={[
          ['Release', data.version],
          ['Level', data.level],
          ['Finalized level', data.finalized_level],
          ['Ready', data.status === 'ready' ? 'Yes: this process takes requests' : 'No: balancers send requests elsewhere'],
        ]}
      />
      <table className="plain" aria-label="Checks">
        <thead>
          <tr>
            <th scope="col">Check</th>
            <th scope="col">State</th>
            <th scope="col">Reason</th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(data.checks).map(([name, { status, detail }]) => (
            <tr key={name}>
              <td>{names[name] ?? name}</td>
              <td>
                <Status tone={states[status][0]} word={states[status][1]} />
              </td>
              <td className="text-of-data">{detail ?? ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="hint">
        This is the process that answered; others have pages of their own. <code>gatehouse doctor</code> finds more, with what to do.
      </p>
    </div>
  )
}
