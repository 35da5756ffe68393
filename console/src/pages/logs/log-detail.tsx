import { Tabs } from '@mantine/core'
import { bytes, count, costWords, duration, exactMoney, moment, type Zone } from '../../api/figures.ts'
import { Copy } from '../../parts/copy.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Status, statusOf } from '../../parts/status.tsx'
import { TextOfData, visible } from '../../parts/text-of-data.tsx'
import { useAddress } from '../../shell/address.ts'
import type { Scope } from '../../shell/scope.ts'
import { attemptsOf, type Log } from './attempts.ts'
import { conversationOf } from './conversation.ts'
import { Guardrails } from './log-guardrails.tsx'
import { Trace } from './log-trace.tsx'
import { Why } from './log-why.tsx'

export interface LogProps {
  readonly log: Log
  readonly zone: Zone
  readonly scope: Scope
  /** Opens another log. */
  readonly onOpen: (id: string) => void
}

const tabs = [
  ['summary', 'Summary', Summary],
  ['conversation', 'Conversation', Conversation],
  ['request', 'Request', Request],
  ['response', 'Response', Response],
  ['attempts', 'Attempts', Attempts],
  ['why', 'Why', Why],
  ['cost', 'Cost', Cost],
  ['guardrails', 'Guardrails', Guardrails],
  ['trace', 'Trace', Trace],
] as const

/** One exchange: what came in, what went out, which attempts were made, what it cost. */
export function LogDetail({ log, zone, scope, onOpen }: LogProps) {
  const [search, change] = useAddress()
  const tab = tabs.some(([id]) => id === search['tab']) ? (search['tab'] ?? 'summary') : 'summary'
  const { metrics } = log
  return (
    <>
      <div className="row">
        <Status {...statusOf(metrics)} />
        <span className="text-of-data">{metrics.ai_model ?? metrics.operation}</span>
        <code>{log._id}</code>
        <Copy text={log._id} label="Copy the id" />
      </div>
      <Tabs
        value={tab}
        onChange={(to) => change({ tab: to === 'summary' || to === null ? '' : to }, { replace: true })}
        keepMounted={false}
      >
        <Tabs.List aria-label="Log">
          {tabs.map(([id, label]) => (
            <Tabs.Tab key={id} value={id}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map(([id, , Panel]) => (
          <Tabs.Panel key={id} value={id} pt="sm">
            <div className="stack">
              <Panel log={log} zone={zone} scope={scope} onOpen={onOpen} />
            </div>
          </Tabs.Panel>
        ))}
      </Tabs>
    </>
  )
}

function Summary({ log: { metrics, translation }, zone }: LogProps) {
  return <SummaryOf metrics={metrics} translation={translation} zone={zone} />
}

interface SummaryProps extends Pick<LogProps, 'zone'> {
  readonly metrics: Log['metrics']
  readonly translation?: Log['translation']
}

/** What is known of an exchange without its bodies. */
export function SummaryOf({ metrics, translation, zone }: SummaryProps) {
  return (
    <Facts
      facts={[
        ['Time', `${moment(metrics.created_at, zone, new Date(0))} ${zone === 'utc' ? 'UTC' : 'local'}`],
        ['Error', visible(metrics.error_code ?? '')],
        ['Operation', metrics.operation],
        ['Address', visible(`${metrics.request_method} ${metrics.request_url}`)],
        ['Provider', [metrics.provider_name, metrics.ai_org].filter(Boolean).join(', ')],
        ['Model', metrics.ai_model],
        ['Key', metrics.api_key_name],
        ['Person', metrics.user_name],
        ...factsOfUse(metrics),
        ['Metadata', visible(metrics['metadata.key'].map((key, at) => `${key}=${metrics['metadata.value'][at] ?? ''}`).join(', '))],
        ['Trace', metrics.trace_id],
        ['Dropped parameters', translation?.dropped_params.join(', ')],
        ['Error of the provider', visible(translation?.provider_error ?? '')],
      ]}
    />
  )
}

const factsOfUse = (metrics: Log['metrics']): readonly (readonly [string, string | null])[] => [
  ['Config', metrics.config === null ? null : `${metrics.config.slug} v${metrics.config.version ?? '?'}`],
  ['Prompt', metrics.prompt_slug],
  ['Whole time', duration(metrics.response_time)],
  ['First byte', metrics.time_to_first_byte === null ? null : duration(metrics.time_to_first_byte)],
  [
    'Tokens',
    metrics.total_units === null
      ? null
      : `${count(metrics.total_units)}: ${count(metrics.req_units ?? 0)} in, ${count(metrics.res_units ?? 0)} out`,
  ],
  ['Cost', costOf(metrics)],
  ['Attempts', String(metrics.attempts.count)],
  ['Guardrails', metrics.guardrail],
  ['Cache', metrics.cache_status],
  ['Bytes', `${bytes(metrics.request_bytes)} in, ${bytes(metrics.response_bytes)} out`],
]

const costOf = ({ cost_pico_usd: pico, cost_state: state }: Log['metrics']): string =>
  pico === null || state === 'unpriced' ? (costWords[state ?? ''] ?? '–') : `${exactMoney(pico)} (${costWords[state ?? ''] ?? ''})`

/** The texts of a conversation, whichever format the request has. */
function Conversation({ log }: LogProps) {
  const turns = conversationOf(log.request.body, log.response.body)
  if (turns.length === 0)
    return <p className="muted">This exchange holds no conversation that can be shown as text. See Request and Response.</p>
  return (
    <ol className="turns">
      {turns.map(({ role, text }, at) => (
        <li key={at}>
          <strong>{role}</strong>
          <TextOfData label={`Text of ${role}, part ${at + 1}`} value={text} />
        </li>
      ))}
    </ol>
  )
}

type Side = Log['request'] | Log['response']

const Body = ({ side, label }: { readonly side: Side; readonly label: string }) => (
  <>
    <h2>Body</h2>
    {side.body === null || side.body === undefined ? (
      <p className="muted">No body is stored: the request asked for none, or bodies of this age are deleted.</p>
    ) : (
      <TextOfData label={label} value={side.body} />
    )}
    {side.body_truncated && <p className="hint">The stored body is cut.</p>}
    <h2>Headers</h2>
    <Facts facts={Object.entries(side.headers).map(([name, value]) => [name, visible(value)])} />
  </>
)

function Request({ log: { request } }: LogProps) {
  return (
    <>
      <p className="text-of-data">
        {request.method} {visible(request.url)}
      </p>
      <Body side={request} label="Body of the request" />
    </>
  )
}

function Response({ log: { response } }: LogProps) {
  return <Body side={response} label="Body of the response" />
}

function Attempts({ log }: LogProps) {
  const attempts = attemptsOf(log)
  if (attempts.length === 0) return <p className="muted">No provider was reached.</p>
  return (
    <table className="plain" aria-label="Attempts">
      <thead>
        <tr>
          {['#', 'Target', 'Model', 'Result', 'Begins at', 'Took'].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {attempts.map((attempt, at) => (
          <tr key={at}>
            <td>{at + 1}</td>
            <td>{attempt.provider_slug === null ? attempt.provider : `@${attempt.provider_slug}`}</td>
            <td>{attempt.model}</td>
            <td>
              <Status {...statusOf({ response_status_code: attempt.status, outcome: 'complete', attempts: { count: 1 } })} />{' '}
              {[attempt.failure, attempt.error]
                .filter(Boolean)
                .map((text) => visible(text ?? ''))
                .join(': ')}
            </td>
            <td>{attempt.start_ms === null ? '–' : duration(attempt.start_ms)}</td>
            <td>{attempt.duration_ms === null ? '–' : duration(attempt.duration_ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const lineOf = ({
  dimension,
  count: amount,
  unit,
  rate_pico_usd: rate,
  amount_pico_usd: cost,
  note,
}: Log['cost']['lines'][number]): readonly string[] => [
  note === null ? dimension : `${dimension} (${note})`,
  `${count(amount)} ${unit}`,
  rate === null ? '–' : exactMoney(rate),
  exactMoney(cost),
]

function Cost({ log: { cost } }: LogProps) {
  return (
    <>
      <p>
        <strong>{cost.cost_pico_usd === null ? (costWords[cost.state ?? ''] ?? 'Unknown') : exactMoney(cost.cost_pico_usd)}</strong>{' '}
        {cost.cost_pico_usd !== null && (costWords[cost.state ?? ''] ?? '')}
      </p>
      {cost.unpriced.length > 0 && <p>Without a price: {cost.unpriced.join(', ')}. The request cost more than these lines.</p>}
      <table className="plain" aria-label="Cost">
        <thead>
          <tr>
            {['Count', 'Amount', 'Rate', 'Cost'].map((name) => (
              <th key={name} scope="col" className={name === 'Count' ? undefined : 'end'}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cost.lines.map((line, at) => (
            <tr key={at}>
              {lineOf(line).map((text, column) => (
                <td key={column} className={column === 0 ? undefined : 'end'}>
                  {text}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <Facts
        facts={[
          ['Prices', cost.catalogue],
          ['Saved by the cache', cost.saved_pico_usd === null ? null : exactMoney(cost.saved_pico_usd)],
        ]}
      />
    </>
  )
}
