import { spentOf } from './amounts.ts'

interface MeterProps {
  readonly label: string
  readonly used: number
  /** Held for requests on their way. */
  readonly reserved: number
  readonly limit: number
  /** Used and limit, with their unit. */
  readonly words: string
}

const share = (part: number, whole: number): number => (whole <= 0 ? 100 : Math.max(0, Math.min(100, (part / whole) * 100)))

/** How much of a limit is used, as a bar and in words. */
const Meter = ({ label, used, reserved, limit, words }: MeterProps) => (
  <div className="meter">
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={limit}
      aria-valuenow={Math.min(used, limit)}
      aria-valuetext={words}
      className="meter-bar"
    >
      <div className="meter-reserved" style={{ width: `${share(used + reserved, limit)}%` }} />
      <div className={used >= limit ? 'meter-used over' : 'meter-used'} style={{ width: `${share(used, limit)}%` }} />
    </div>
    <span className="hint">{words}</span>
  </div>
)

interface BudgetMeterProps {
  readonly name: string
  readonly usage: { readonly spent: number; readonly reserved: number; readonly limit: number }
  readonly type: string
}

/** The budget of a key or a provider as a bar. */
export const BudgetMeter = ({ name, usage, type }: BudgetMeterProps) => (
  <Meter label={`Budget of ${name}`} used={usage.spent} reserved={usage.reserved} limit={usage.limit} words={spentOf({ ...usage, type })} />
)
