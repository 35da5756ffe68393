import { gatehouseHere } from '../../support/cli.ts'
import { environment } from '../../support/process.ts'
import type { Control } from './setup.ts'

/** The findings of `gatehouse budget doctor`, and its exit code. */
export interface Found {
  readonly status: number | null
  readonly budgets: number
  readonly left_out: number
  readonly differences: readonly Readonly<Record<string, unknown>>[]
}

/** Runs `gatehouse budget doctor` on the database of a test. */
export async function doctor(control: Control, ...args: readonly string[]): Promise<Found> {
  const { database, encryptionKey } = control.started.deps.config
  const { status, stdout, stderr } = await gatehouseHere(['budget', 'doctor', '--json', ...args], {
    env: { ...environment(database), ENCRYPTION_KEY: encryptionKey?.reveal() ?? '' },
  })
  if (stdout === '') throw new Error(stderr)
  return { status, ...(JSON.parse(stdout) as Omit<Found, 'status'>) }
}
