import { setTimeout as sleep } from 'node:timers/promises'
import { InvalidArgumentError, Option, type Command } from 'commander'
import type { Client } from 'pg'
import { backfillLock } from '../../app/database/schema/backfill-runner.ts'
import { readBackfills, steerBackfills, type Backfill } from '../../app/database/schema/backfills.ts'
import { withClient } from '../../app/database/schema/migration-client.ts'
import { readMigrations, type MigrationFile } from '../../app/database/schema/migration-files.ts'
import { answer } from '../answer.ts'
import { addWait, withDatabase } from '../database.ts'
import { readDuration } from '../duration.ts'
import { databaseExits, exitCodes } from '../exit-codes.ts'
import { explain } from '../command-help.ts'
import { CommandError } from '../failure.ts'

interface Json {
  readonly json?: true
}

/** `gatehouse backfill status|pause|resume|wait`. */
export function addBackfill(program: Command): void {
  const backfill = explain(program.command('backfill').description('Looks after the background work that an upgrade leaves.'), {
    example: 'gatehouse backfill status',
  })
  addStatus(backfill)
  addPause(backfill)
  addResume(backfill)
  addWaiting(backfill)
}

const unknown = 'there is no such backfill, or it is done'

const addStatus = (backfill: Command) =>
  explain(addWait(backfill.command('status')), { example: 'gatehouse backfill status --json', exits: databaseExits })
    .description('Shows the progress of each backfill.')
    .option('--json', 'an array of { id, release, state, processed, rate, error, updatedAt }')
    .action(async (options: Json, command: Command) => {
      const all = await onBackfills(command, (client, files) => readBackfills(client, files))
      answer(options.json, all, all.length === 0 ? 'There are no backfills.' : all.map(describe).join('\n'))
    })

const addPause = (backfill: Command) =>
  explain(addWait(backfill.command('pause')), { example: 'gatehouse backfill pause', exits: { 1: unknown, ...databaseExits } })
    .description('Holds a backfill after its current batch, or all of them.')
    .argument('[id]', 'the backfill; all when absent')
    .option('--json', 'the ids, as an array')
    .action(async (id: string | undefined, options: Json, command: Command) => {
      const held = await onBackfills(command, (client) => steerBackfills(client, id ?? null, { paused: true }))
      report({ ids: held, id, verb: 'Held' }, options)
    })

const addResume = (backfill: Command) =>
  explain(addWait(backfill.command('resume')), {
    example: 'gatehouse backfill resume --rate 500',
    exits: { 1: unknown, ...databaseExits },
  })
    .description('Lets a backfill go on, or all of them.')
    .argument('[id]', 'the backfill; all when absent')
    .addOption(new Option('--rate <rows>', 'the most rows a second from now on').argParser(readRate))
    .option('--json', 'the ids, as an array')
    .action(async (id: string | undefined, options: Json & { readonly rate?: number }, command: Command) => {
      const { rate } = options
      const resumed = await onBackfills(command, (client) =>
        steerBackfills(client, id ?? null, { paused: false, ...(rate !== undefined && { rate }) }),
      )
      report({ ids: resumed, id, verb: 'Resumed' }, options)
    })

const addWaiting = (backfill: Command) =>
  explain(addWait(backfill.command('wait')), {
    example: 'gatehouse backfill wait --timeout 2h',
    exits: { 1: 'there is no such backfill', 75: 'the time is over, and it is not done', ...databaseExits },
  })
    .description('Waits until a backfill is done, or all of them; the processes with the role jobs do the work.')
    .argument('[id]', 'the backfill; all when absent')
    .addOption(new Option('--timeout <duration>', 'how long to wait').argParser(readDuration).default(3_600_000, '1h'))
    .option('--json', 'as of "gatehouse backfill status"')
    .action(async (id: string | undefined, options: Json & { readonly timeout: number }, command: Command) => {
      const all = await onBackfills(command, (client, files) => waitFor(client, files, { id, timeoutMs: options.timeout }))
      answer(options.json, all, all.length === 0 ? 'There are no backfills.' : all.map(describe).join('\n'))
      process.exitCode = all.every(({ state }) => state === 'done') ? exitCodes.done : exitCodes.timeout
    })

const onBackfills = <T>(command: Command, work: (client: Client, files: readonly MigrationFile[]) => Promise<T>): Promise<T> =>
  withDatabase(command, async ({ connection }) => {
    const files = await readMigrations()
    return withClient(connection.login, (client) => work(client, files))
  })

interface BackfillOrder {
  readonly ids: readonly string[]
  readonly id: string | undefined
  readonly verb: string
}

function report({ ids, id, verb }: BackfillOrder, { json }: Json): void {
  if (ids.length === 0 && id !== undefined) throw new CommandError(`${id}: ${unknown}`)
  answer(json, ids, ids.length === 0 ? 'No backfill is open.' : `${verb} ${ids.join(', ')}.`)
}

const pollMs = 500
const tellEveryMs = 5000

interface WaitOptions {
  readonly id: string | undefined
  readonly timeoutMs: number
}

/** Reports progress on standard error; returns when the ordered work is done, or when the time is over. */
async function waitFor(client: Client, files: readonly MigrationFile[], { id, timeoutMs }: WaitOptions): Promise<readonly Backfill[]> {
  const deadline = performance.now() + timeoutMs
  for (let tellAt = performance.now() + pollMs; ; await sleep(pollMs)) {
    const all = (await readBackfills(client, files)).filter((one) => id === undefined || one.id === id)
    if (id !== undefined && all.length === 0) throw new CommandError(`there is no backfill ${id}`)
    if (all.every(({ state }) => state === 'done') || performance.now() >= deadline) return all
    if (performance.now() < tellAt) continue
    tellAt += tellEveryMs
    for (const one of all) if (one.state !== 'done') console.error(describe(one))
    if (!(await somebodyFills(client))) console.error('no process fills at the moment: is one with the role jobs running?')
  }
}

async function somebodyFills(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ free: boolean }>(`SELECT pg_try_advisory_lock_shared(${backfillLock}) AS free`)
  if (rows[0]?.free === true) await client.query(`SELECT pg_advisory_unlock_shared(${backfillLock})`)
  return rows[0]?.free !== true
}

const describe = ({ id, state, processed, rate, error }: Backfill) =>
  `${id}  ${state}  ${processed} rows${state === 'done' ? '' : `, at most ${rate} a second`}${error === null ? '' : `  (last batch failed: ${error})`}`

function readRate(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('it is a whole number of rows from 1.')
  return Number(text)
}
