import { duration } from '../../api/figures.ts'
import { Status } from '../../parts/status.tsx'
import { TextOfData, visible } from '../../parts/text-of-data.tsx'
import type { LogProps } from './log-detail.tsx'

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const textOf = (value: unknown): string => (typeof value === 'string' ? visible(value) : '')

const phases = [
  ['before_request_hooks', 'Before the call'],
  ['after_request_hooks', 'After the call'],
] as const

/** The guardrails that ran, with the verdict of each check. */
export function Guardrails({ log: { hook_results: results, metrics } }: LogProps) {
  const isNone = results === null || phases.every(([name]) => results[name].length === 0)
  if (isNone)
    return (
      <p className="muted">
        {metrics.guardrail === null
          ? 'No guardrail ran.'
          : `Guardrails ran, with ${metrics.guardrail} as the worst verdict. Their results are not kept, or no longer.`}
      </p>
    )
  return (
    <>
      {phases.map(
        ([name, label]) =>
          results[name].length > 0 && (
            <section key={name} className="stack" aria-label={label}>
              <h2>{label}</h2>
              {results[name].map((hook, at) => (
                <Hook key={at} hook={hook} />
              ))}
            </section>
          ),
      )}
    </>
  )
}

const verdictOf = ({ verdict, deny }: Json) =>
  verdict === true
    ? ({ tone: 'ok', word: 'Passed' } as const)
    : deny === true
      ? ({ tone: 'policy', word: 'Blocked' } as const)
      : ({ tone: 'warn', word: 'Warned' } as const)

function Hook({ hook }: { readonly hook: Json }) {
  const { id, name, transformed, execution_time: took, async: isAside, checks } = hook
  const title = textOf(name) || textOf(id)
  const notes = [
    typeof took === 'number' ? duration(took) : '',
    transformed === true ? 'changed the text' : '',
    isAside === true ? 'beside the request' : '',
  ]
  return (
    <div className="stack">
      <div className="row">
        <Status {...verdictOf(hook)} />
        <strong className="text-of-data">{title}</strong>
        <span className="hint">{notes.filter(Boolean).join(', ')}</span>
      </div>
      <table className="plain" aria-label={`Checks of ${title}`}>
        <thead>
          <tr>
            {['Check', 'Verdict', 'Took', 'Result'].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(Array.isArray(checks) ? checks.filter(isObject) : []).map((check, at) => (
            <Check key={at} check={check} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Check({ check: { id, verdict, error, data, execution_time: took, transformed } }: { readonly check: Json }) {
  const failed = isObject(error) ? textOf(error['message']) : ''
  return (
    <tr>
      <th scope="row" className="text-of-data">
        {textOf(id)}
      </th>
      <td>
        <Status tone={verdict === true ? 'ok' : 'warn'} word={verdict === true ? 'Passed' : 'Failed'} />
      </td>
      <td>{typeof took === 'number' ? duration(took) : '–'}</td>
      <td>
        {failed !== '' && <p>The check itself failed: {failed}</p>}
        {transformed === true && <p>It changed the text.</p>}
        {isObject(data) && Object.keys(data).length > 0 && <TextOfData label={`Result of ${textOf(id)}`} value={data} />}
      </td>
    </tr>
  )
}
