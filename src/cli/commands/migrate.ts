import type { Command } from 'commander'
import { readBackfills } from '../../app/database/schema/backfills.ts'
import { withClient } from '../../app/database/schema/migration-client.ts'
import { readMigrations, type MigrationFile } from '../../app/database/schema/migration-files.ts'
import { migrate, pendingOf } from '../../app/database/schema/migrate.ts'
import { readHistory, readReleaseState, type HistoryEntry } from '../../app/database/schema/release-state.ts'
import { guardBoot } from '../../app/start/boot-guard.ts'
import { createRecords } from '../../app/level/lazy-release-table.ts'
import { deploymentOf } from '../../app/database/schema/prepare-schema.ts'
import { environment, loadConfig } from '../../config/index.ts'
import { version } from '../../config/version.ts'
import { answer } from '../answer.ts'
import { addWait, withDatabase } from '../database.ts'
import { databaseExits, exitCodes } from '../exit-codes.ts'
import { explain } from '../command-help.ts'
import { CommandError } from '../failure.ts'
import { progressLog } from '../progress.ts'

interface Options {
  readonly json?: true
}

const exits = {
  1: 'a migration failed; complete steps stay, and the next run goes on',
  75: 'it was stopped; complete steps stay, and the next run goes on',
  ...databaseExits,
}

/** `gatehouse migrate [status|plan]`. */
export function addMigrate(program: Command): void {
  const run = addWait(program.command('migrate'))
    .description('Brings the schema up to this release; removals wait for "gatehouse finalize".')
    .option('--json', 'what was applied, as { applied: [id] }')
    .action(async ({ json }: Options, command: Command) => {
      await guardBoot(loadConfig(environment()), { mode: { migrates: true, deployed: true }, records: createRecords(), log: progressLog() })
      const applied = await untilTold((signal) =>
        withDatabase(
          command,
          ({ config, connection, log }) => migrate(connection.login, log, { deployment: deploymentOf(config), signal }),
          { repeatable: true },
        ),
      )
      answer(json, { applied }, applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`)
    })
  explain(run, { example: 'gatehouse migrate', exits })
  addPlan(run)
  addStatus(run)
}

/** Lets SIGTERM and SIGINT end the work where it can be taken up again. As the first process of a container it gets no other end. */
async function untilTold<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const told = new AbortController()
  const end = () => told.abort()
  const signals = ['SIGTERM', 'SIGINT'] as const
  for (const name of signals) process.once(name, end)
  try {
    return await work(told.signal)
  } catch (error) {
    if (!told.signal.aborted) throw error
    throw new CommandError('stopped: complete steps stay, and the next "gatehouse migrate" goes on', exitCodes.timeout)
  } finally {
    for (const name of signals) process.removeListener(name, end)
  }
}

/** Returns the option --json. The commands below `migrate` share its options, and the parser gives them to `migrate`, wherever they stand. */
const wantsJson = (command: Command) => command.optsWithGlobals<Options>().json

const addPlan = (run: Command) =>
  explain(addWait(run.command('plan')), { example: 'gatehouse migrate plan --json', exits: databaseExits })
    .description('Lists what "gatehouse migrate" would apply, and applies nothing.')
    .option('--json', '{ pending: [{ id, statements }] }')
    .action(async (_: Options, command: Command) => {
      const files = await withDatabase(command, async ({ connection }) => {
        const all = await readMigrations()
        return withClient(connection.login, (client) => pendingOf('expand', client, all))
      })
      const pending = files.map(({ id, statements }) => ({ id, statements: statements.map(({ text }) => text) }))
      answer(wantsJson(command), { pending }, pending.length === 0 ? 'The schema is up to date.' : files.map(title).join('\n'))
    })

const title = ({ id, statements, transactional }: MigrationFile) =>
  `${id}  ${statements.length} statements${transactional ? ', in one transaction' : ', one by one'}`

const historyRows = 10

interface Status {
  readonly release: string
  /** Null before the first migration. */
  readonly level: string | null
  readonly schemaHead: string | null
  readonly minAppVersion: string | null
  readonly encryptionKeyFingerprint: string | null
  /** Ids by phase. */
  readonly pending: Readonly<Record<MigrationFile['phase'], readonly string[]>>
  readonly history: readonly HistoryEntry[]
}

const addStatus = (run: Command) =>
  explain(addWait(run.command('status')), { example: 'gatehouse migrate status', exits: databaseExits })
    .description('Shows the state of the database: level, schema, pending work of each phase, and the last changes.')
    .option('--json', '{ release, level, schemaHead, minAppVersion, encryptionKeyFingerprint, pending, history }')
    .action(async (_: Options, command: Command) => {
      const status = await withDatabase(command, ({ connection }) => readStatus(connection.login))
      answer(wantsJson(command), status, describe(status))
    })

async function readStatus(login: Parameters<typeof withClient>[0]): Promise<Status> {
  const files = await readMigrations()
  return withClient(login, async (client): Promise<Status> => {
    const state = await readReleaseState(client)
    const ids = async (phase: MigrationFile['phase']) => (await pendingOf(phase, client, files)).map(({ id }) => id)
    const done = new Set((await readBackfills(client, files)).flatMap(({ id, state: stage }) => (stage === 'done' ? [id] : [])))
    return {
      release: version(),
      level: state?.level ?? null,
      schemaHead: state?.schemaHead ?? null,
      minAppVersion: state?.minAppVersion ?? null,
      encryptionKeyFingerprint: state?.encryptionKeyFingerprint ?? null,
      pending: {
        expand: await ids('expand'),
        backfill: (await ids('backfill')).filter((id) => !done.has(id)),
        contract: await ids('contract'),
      },
      history: await readHistory(client, historyRows),
    }
  })
}

function describe({ release, level, schemaHead, minAppVersion, encryptionKeyFingerprint, pending, history }: Status): string {
  return [
    `this release        ${release}`,
    `finalized level     ${level ?? 'none yet'}`,
    `oldest accepted     ${minAppVersion ?? 'any'}`,
    `schema              ${schemaHead ?? 'empty'}`,
    `encryption key      ${encryptionKeyFingerprint ?? 'none yet'}`,
    `pending migrations  ${list(pending.expand)}`,
    `open backfills      ${list(pending.backfill)}`,
    `for finalize        ${list(pending.contract)}`,
    ...history.map(line),
  ].join('\n')
}

const list = (ids: readonly string[]) => (ids.length === 0 ? 'none' : ids.join(', '))

const line = ({ startedAt, action, from, to, status, by, error, reason }: HistoryEntry) =>
  [
    `${startedAt.toISOString()}  ${action} ${from === null ? '' : `${from} -> `}${to}  ${status}, by ${by}`,
    ...(error === null ? [] : [error]),
    ...(reason === null ? [] : [`because "${reason}"`]),
  ].join(': ')
