import { InvalidArgumentError, type Command } from 'commander'
import type { Anchor, ChainReport } from '../../app/audit/verify.ts'
import { answer } from '../answer.ts'
import { addWait } from '../database.ts'
import { databaseExits } from '../exit-codes.ts'
import { explain } from '../command-help.ts'
import { CommandError, UsageError } from '../failure.ts'
import { addAuditRedact } from './audit-redact.ts'

interface Options {
  readonly organisation?: string
  readonly anchor?: Anchor
  readonly json?: true
}

/** `gatehouse audit verify|redact`. */
export function addAudit(program: Command): void {
  const audit = explain(program.command('audit').description('Looks after the audit trail.'), { example: 'gatehouse audit verify' })
  const verify = addWait(audit.command('verify'))
    .description('Proves that no row of the audit trail was changed, forged, moved or taken away.')
    .option('--organisation <slug>', 'only this organisation, by slug or id')
    .option('--anchor <row:hash>', 'an end of the chain that was noted earlier, which it must still go through', readAnchor)
    .option('--json', 'the chains, as an array of { organisationId, slug, rows, redacted, head, faults }')
    .action(async ({ organisation, anchor, json }: Options, command: Command) => {
      if (anchor !== undefined && organisation === undefined)
        throw new UsageError('--anchor needs --organisation: each has a chain of its own')
      // The code of the whole product is loaded only for the commands that need it: a start without it takes half the time.
      const { withInstallation } = await import('../installation.ts')
      const { verifyAudit } = await import('../../app/audit/verify.ts')
      const reports = await withInstallation(command, (opened) =>
        verifyAudit(opened, { organisation: organisation ?? null, anchor: anchor ?? null }),
      )
      if (reports.length === 0) throw new CommandError(`there is no organisation ${organisation ?? 'yet'}`)
      answer(json, reports, reports.flatMap(describe).join('\n'))
      if (reports.some(({ faults }) => faults.length > 0)) throw new CommandError('the audit trail does not hold')
    })
  explain(verify, {
    example: 'gatehouse audit verify --organisation acme --anchor 120:5f2d…',
    exits: { 1: 'the trail does not hold, or there is no such organisation', ...databaseExits },
  })
  addAuditRedact(audit)
}

function readAnchor(text: string): Anchor {
  const [, seq, hash] = /^(\d+):([0-9a-f]{64})$/.exec(text) ?? []
  if (seq === undefined || hash === undefined) throw new InvalidArgumentError('an anchor is <row>:<hash>, as this command prints it.')
  return { seq: Number(seq), hash }
}

const describe = ({ slug, rows, redacted, head, faults }: ChainReport) =>
  faults.length > 0
    ? faults.map((fault) => `${slug}: ${fault}`)
    : [
        `${slug}: ${rows} rows hold${redacted === 0 ? '' : `, ${redacted} of them redacted`}${head === null ? '' : `, anchor ${head.seq}:${head.hash}`}`,
      ]
