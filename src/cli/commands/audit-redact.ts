import { userInfo } from 'node:os'
import type { Command } from 'commander'
import type { RedactionReport } from '../../app/audit/redact.ts'
import { compareVersions } from '../../release/version.ts'
import { answer } from '../answer.ts'
import { explain } from '../command-help.ts'
import { addWait } from '../database.ts'
import { databaseExits, exitCodes } from '../exit-codes.ts'
import { CommandError } from '../failure.ts'

interface Options {
  readonly organisation?: string
  readonly by?: string
  readonly dryRun?: boolean
  readonly beforeFinalize?: boolean
  readonly json?: true
}

/** `gatehouse audit redact`. */
export const addAuditRedact = (audit: Command): Command =>
  explain(addWait(audit.command('redact')), {
    example: 'gatehouse audit redact --dry-run',
    exits: { 1: 'a row does not hold and stays as it is, or there is no such organisation', ...databaseExits },
  })
    .description('Takes secrets out of rows of the audit trail that earlier versions wrote; "audit verify" accepts such rows.')
    .option('--organisation <slug>', 'only this organisation, by slug or id')
    .option('--by <name>', 'the person at whose word it is done; the user of the system when absent')
    .option('--dry-run', 'only lists the rows and the places of the secrets')
    .option(
      '--before-finalize',
      'also while an upgrade can be taken back: the "audit verify" of the former release then reports such rows as changed',
    )
    .option('--json', 'an array of { organisationId, slug, rows, redacted: [{ seq, fields }], broken }')
    .action(async ({ organisation, by = userInfo().username, dryRun = false, beforeFinalize = false, json }: Options, command: Command) => {
      // The code of the whole product is loaded for this command alone.
      const { withInstallation } = await import('../installation.ts')
      const { readState } = await import('../../app/level/follow-level.ts')
      const { redactAudit } = await import('../../app/audit/redact.ts')
      const { hashingOnce, secretColumnsOf } = await import('../../app/audit/redactable.ts')
      const { schemasOf } = await import('../request-schemas.ts')
      const reports = await withInstallation(command, async (opened) => {
        const { config, orm, vault } = opened
        const state = await readState(orm)
        if (!dryRun && !beforeFinalize && (state === null || compareVersions(state.level, config.version) < 0))
          throw new CommandError(
            'the upgrade can still be taken back, and the former release would take redacted rows for changed ones: run "gatehouse finalize" first, or give --before-finalize',
            exitCodes.configuration,
          )
        const clean = { replace: hashingOnce(vault), schemasOf, secretColumns: secretColumnsOf(orm) }
        return redactAudit(opened, { organisation: organisation ?? null, by, dryRun, clean })
      })
      if (reports.length === 0) throw new CommandError(`there is no organisation ${organisation ?? 'yet'}`)
      answer(json, reports, reports.flatMap((report) => describe(report, dryRun)).join('\n'))
      if (reports.some(({ broken }) => broken.length > 0))
        throw new CommandError('rows that do not hold stay as they are: run "gatehouse audit verify"')
    })

function describe({ slug, rows, redacted, broken }: RedactionReport, dryRun: boolean): readonly string[] {
  const verb = dryRun ? 'have secrets' : 'were redacted'
  return [
    `${slug}: ${redacted.length} of ${rows} rows ${verb}${broken.length === 0 ? '' : `; ${broken.length} do not hold, the first is row ${broken[0]}`}`,
    ...(dryRun ? redacted.map(({ seq, fields }) => `${slug}: row ${seq}: ${fields.join(', ')}`) : []),
  ]
}
