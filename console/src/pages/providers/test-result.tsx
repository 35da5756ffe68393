import type { Answer } from '../../api/client.ts'
import { duration } from '../../api/figures.ts'
import { visible } from '../../parts/text-of-data.tsx'

const signs = { passed: '✓', failed: '✗', skipped: '–' } as const
const names = { address: 'Address', name: 'Name', connection: 'Connection', credential: 'Key', models: 'Models' } as const

/** The steps of a test of a connection, each with its time and its reason. */
export const TestResult = ({ result }: { readonly result: Answer<'POST /integrations/test'> | undefined }) => (
  <section role="region" aria-label="Test result" aria-live="polite">
    {result !== undefined && (
      <>
        <p>
          <strong>{result.passed ? 'It works.' : 'It does not work yet.'}</strong>
          {result.models !== null && ` The provider lists ${result.models.total} models.`}
        </p>
        <ul className="plain-list">
          {result.steps.map(({ step, status, execution_time: ms, message }) => (
            <li key={step} className={status === 'failed' ? 'fault chip danger' : undefined}>
              {signs[status]} {names[step]}
              {ms !== null && ` (${duration(ms)})`}: <span className="text-of-data">{visible(message)}</span>
            </li>
          ))}
        </ul>
      </>
    )}
  </section>
)
