import type { Stage } from './stage.ts'

/** The outcome of a check. `skipped`: it could not look, with the reason. */
export type Status = 'ok' | 'warn' | 'fail' | 'skipped'

/** The result of a check. */
export interface Verdict {
  readonly status: Status
  /** The facts, in one sentence. */
  readonly detail: string
  /** The remedy. */
  readonly fix?: string
}

/** One thing that must be right before Gatehouse is installed or upgraded. */
export interface Check {
  /** Stable: release records name the checks of breaking changes by it. */
  readonly id: string
  /** The subject of the check and its reason, for the documents. */
  readonly about: string
  /** The usual remedy, for the documents. */
  readonly remedy: string
  /** True if `--quick` runs it too. */
  readonly quick: boolean
  run(stage: Stage): Verdict | Promise<Verdict>
}

export const ok = (detail: string): Verdict => ({ status: 'ok', detail })
export const warn = (detail: string, fix: string): Verdict => ({ status: 'warn', detail, fix })
export const fail = (detail: string, fix: string): Verdict => ({ status: 'fail', detail, fix })
export const skipped = (detail: string): Verdict => ({ status: 'skipped', detail })
