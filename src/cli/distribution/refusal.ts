import { DistributionFault } from '../../distribution/fault.ts'
import { answer } from '../answer.ts'

/** Runs a check; with `--json` its refusal is an answer too, before it is thrown on. */
export async function reportRefusal(json: true | undefined, check: () => Promise<void>): Promise<void> {
  try {
    await check()
  } catch (error) {
    if (error instanceof DistributionFault && json === true) answer(json, { verified: false, code: error.code, message: error.message }, '')
    throw error
  }
}
