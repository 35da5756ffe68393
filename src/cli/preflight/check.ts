import type { Stage } from './stage.ts'

/** How a check came out. `skipped`: it could not look, and says why. */
export type Status = 'ok' | 'warn' | 'fail' | 'skipped'

/** What a check found. */
export interface Verdict {
  readonly status: Status
  /** What was found, in one sentence. */
  readonly detail: string
  /** What to do about it. */
  readonly fix?: string
}

/** One thing that must be right before Gatehouse is installed or upgraded. */
export interface Check {
  /** Stable: release records name the checks of breaking changes by it. */
  readonly id: string
  /** What it looks at and why that matters, for the documents. */
  readonly about: string
  /** What usually helps, for the documents. */
  readonly remedy: string
  /** Whether `--quick` runs it too. */
  readonly quick: boolean
  run(stage: Stage): Verdict | Promise<Verdict>
}

export const ok = (detail: string): Verdict => ({ status: 'ok', detail })
export const warn = (detail: string, fix: string): Verdict => ({ status: 'warn', detail, fix })
export const fail = (detail: string, fix: string): Verdict => ({ status: 'fail', detail, fix })
export const skipped = (detail: string): Verdict => ({ status: 'skipped', detail })
