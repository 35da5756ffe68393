import { Modal } from '@mantine/core'
import { useRead } from '../../api/query.ts'
import { Facts } from '../../parts/facts.tsx'
import { Failed, Loading, State } from '../../parts/state.tsx'
import { ratesIn } from './money.ts'

const layers: Readonly<Record<string, string>> = {
  proxy: 'prices of the operator, read from an address',
  log_store: 'prices of the operator in the log store',
  local: 'prices of the operator in a file',
  built_in: 'the catalogue of this release',
}

interface ExplainPriceProps {
  readonly provider: string
  /** Null: nothing is to be explained. */
  readonly model: string | null
  readonly workspace: string | undefined
  readonly onClose: () => void
}

/** The price of a model by its parts, the list that it is from, and the lists below it. */
export const ExplainPrice = ({ model, ...props }: ExplainPriceProps) => (
  <Modal opened={model !== null} onClose={props.onClose} title={`Price of ${model ?? ''}`} closeButtonProps={{ 'aria-label': 'Close' }}>
    {model !== null && <Explained {...props} model={model} />}
  </Modal>
)

function Explained({ provider, model, workspace }: Omit<ExplainPriceProps, 'model' | 'onClose'> & { readonly model: string }) {
  const { data, error, refetch } = useRead('GET /model-configs/pricing/{provider}/{model}', { path: { provider, model }, workspace })
  if (error?.status === 404)
    return (
      <State title="Unpriced">
        <p>
          No layer knows this model. Its requests have no cost, and budgets in dollars refuse them unless they let unpriced models through.
        </p>
      </State>
    )
  if (data === undefined)
    return error === null ? <Loading rows={4} /> : <Failed what="price" error={error} onRetry={() => void refetch()} />
  return (
    <div className="stack">
      <Facts
        facts={[
          ['From', layers[data.source] ?? data.source],
          ['List', data.catalogue],
          ['As of', data.as_of],
          ['Match', data.resolved === 'exact' ? 'this model' : 'the family of this model'],
        ]}
      />
      {data.free && <p>It is free.</p>}
      <Rates label="Prices" rates={data.pay_as_you_go} />
      {data.overrides.map(({ source, catalogue, pay_as_you_go: rates }) => (
        <details key={source + catalogue}>
          <summary>
            Below it, and without effect: {layers[source] ?? source}, {catalogue}
          </summary>
          <Rates label={`Prices of ${catalogue}`} rates={rates} />
        </details>
      ))}
    </div>
  )
}

const Rates = ({ label, rates }: { readonly label: string; readonly rates: Readonly<Record<string, unknown>> }) => (
  <table className="plain" aria-label={label}>
    <thead>
      <tr>
        <th scope="col">Part</th>
        <th scope="col" className="end">
          US dollars
        </th>
      </tr>
    </thead>
    <tbody>
      {ratesIn(rates).map(([name, text]) => (
        <tr key={name}>
          <td>{name}</td>
          <td className="end">{text}</td>
        </tr>
      ))}
    </tbody>
  </table>
)
