import { longBytes, longTurns } from '../../lib/shares/long-turns.ts'

/**
 * Waits for the turn of an organisation to work on so many bytes at once; a few need none. Never rejects: uploads, batches that are made and lines
 * that run are bounded in number, so that their bytes are not counted once more.
 */
export async function workTurn(organisationId: string, bytes: number): Promise<void> {
  if (bytes > longBytes) await longTurns.take(organisationId)
}
