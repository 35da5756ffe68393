import type { Command } from 'commander'
import { environment } from '../../config/index.ts'
import { describeProxies, reportProxies, type ProxyReport } from '../doctor/proxies.ts'
import type { Trouble } from '../doctor/trouble.ts'
import { nearest } from '../../lib/text/nearest.ts'
import { addWait } from '../database.ts'
import type { SsoReport } from '../doctor/sso.ts'
import { databaseExits, exitCodes } from '../exit-codes.ts'
import { explain } from '../command-help.ts'
import { UsageError } from '../failure.ts'
import { progressLog } from '../progress.ts'
import { wrap } from '../wrap.ts'

interface Options {
  readonly url?: readonly string[]
  readonly process: boolean
  readonly explain?: string
  readonly strict?: true
  readonly json?: true
}

/** `gatehouse doctor` and `gatehouse doctor sso`. */
export function addDoctor(program: Command): void {
  const doctor = explain(program.command('doctor'), {
    example: 'gatehouse doctor --url http://127.0.0.1:8787',
    exits: { 1: 'something is wrong; with --strict: or worth a warning' },
  })
    .description('Examines an installation, running or not, and prints faults and remedies in plain words.')
    .option(
      '--url <url>',
      'the running process, by default at the address of these settings; given several times, processes are compared too',
      collected,
    )
    .option('--no-process', 'ask no process: none is meant to run')
    .option('--explain <word>', 'instead: the meaning of an error code, a check or a finding')
    .option('--strict', 'a warning fails too')
    .option('--json', '{ ok, proxies, troubles: [{ id, severity, what, fix }] }')
    .action(async (options: Options) => {
      if (options.explain !== undefined) return explainOne(options.explain)
      const { troubles, proxies } = await examine(options)
      const wrong = troubles.some(({ severity }) => severity === 'error' || options.strict)
      if (options.json) console.log(JSON.stringify({ ok: !wrong, proxies, troubles }, null, 2))
      else if (proxies !== null) console.log(`${wrap(describeProxies(proxies), '').join('\n')}\n`)
      if (!options.json) console.log(troubles.length === 0 ? 'Nothing is wrong.' : troubles.map(toText).join('\n\n'))
      process.exitCode = wrong ? exitCodes.refused : exitCodes.done
    })
  addSso(doctor)
}

interface SsoOptions extends Pick<Options, 'strict' | 'json'> {
  readonly organisation?: string
}

/** The options that `doctor` has too come to it, whichever of both names they follow. */
const addSso = (doctor: Command): Command =>
  explain(addWait(doctor.command('sso')), {
    example: 'gatehouse doctor sso --organisation acme',
    exits: { 1: 'something is wrong; with --strict: or worth a warning', ...databaseExits },
  })
    .description('Examines the identity providers by which people sign in, as a sign-in would meet them. Makes no changes.')
    .option('--organisation <slug>', 'only the one of this organisation')
    .option('--strict', 'a warning fails too')
    .option('--json', '{ ok, organisations: [{ organisation, provider, troubles: [{ id, severity, what, fix }] }] }')
    .action(async (_: unknown, command: Command) => {
      const { organisation, strict, json } = command.optsWithGlobals<SsoOptions>()
      const { examineSso } = await import('../doctor/sso.ts')
      const organisations = await examineSso(command, organisation)
      const troubles = organisations.flatMap((one) => one.troubles)
      const wrong = troubles.some(({ severity }) => severity === 'error' || strict)
      if (json) console.log(JSON.stringify({ ok: !wrong, organisations }, null, 2))
      else console.log(organisations.map(toReport).join('\n\n'))
      process.exitCode = wrong ? exitCodes.refused : exitCodes.done
    })

function toReport({ organisation, provider, troubles }: SsoReport): string {
  const head =
    provider === null ? `${organisation}: no identity provider` : `${organisation}: ${provider.name} (${provider.type}, ${provider.issuer})`
  return [head, troubles.length === 0 ? 'Nothing is wrong.' : troubles.map(toText).join('\n\n')].join('\n')
}

/** An option that may be given several times. */
const collected = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

interface DoctorResult {
  readonly troubles: readonly Trouble[]
  /** Null: there are none, or the settings cannot be read. */
  readonly proxies: ProxyReport | null
}

async function examine({ url: given, process: asks }: Options): Promise<DoctorResult> {
  const { openProcess, ownUrl } = await import('../ask-process.ts')
  const { examineJournal } = await import('../doctor/journal.ts')
  const { comparePriceLists } = await import('../doctor/price-lists.ts')
  const { examineProcess } = await import('../doctor/process.ts')
  const { fromChecks } = await import('../doctor/trouble.ts')
  const { preflightChecks } = await import('../preflight/checks.ts')
  const { runChecks } = await import('../preflight/run.ts')
  const { openStage, usualCircumstances } = await import('../preflight/stage.ts')
  const stage = openStage(environment(), usualCircumstances, progressLog())
  const config = stage.configError === null ? stage.settings() : null
  const own = config === null ? null : ownUrl(config)
  const urls = asks ? (given ?? (own === null ? [] : [own])) : []
  const running = urls.map(openProcess)
  const spoolBytes = config?.maxSpoolBytes ?? Number.POSITIVE_INFINITY
  try {
    const seen = running.length === 0 ? [] : await asked(() => Promise.all(running.map((one) => examineProcess(one, spoolBytes))))
    const compared = await comparePriceLists(running)
    console.error('checking what it needs')
    const checked = fromChecks(await runChecks(preflightChecks, stage))
    const silent = seen.every((troubles) => troubles.some(({ id }) => id === 'process-silent'))
    const journal = config === null ? [] : examineJournal(config.dataDir, { running: !silent })
    const troubles = [...seen.flatMap((found, at) => placed(found, urls, at)), ...compared, ...checked, ...journal]
    return { troubles, proxies: reportProxies(config?.proxies ?? null) }
  } finally {
    await Promise.all(running.map((one) => one.close()))
    await stage.close()
  }
}

/** When there are several processes, the troubles name theirs. */
const placed = (troubles: readonly Trouble[], urls: readonly string[], at: number): readonly Trouble[] =>
  urls.length < 2 ? troubles : troubles.map((trouble) => Object.assign({}, trouble, { what: `${urls[at] ?? ''}: ${trouble.what}` }))

function asked<T>(ask: () => Promise<T>): Promise<T> {
  console.error('asking the process')
  return ask()
}

const toText = ({ id, severity, what, fix }: Trouble) =>
  [`${severity === 'error' ? 'WRONG' : 'CAREFUL'}  ${id}`, ...wrap(what, '  '), ...(fix === '' ? [] : wrap(`-> ${fix}`, '  '))].join('\n')

async function explainOne(word: string): Promise<void> {
  const { explainWord, words } = await import('../troubleshooting/lookup.ts')
  const { plain } = await import('../doctor/trouble.ts')
  const meanings = explainWord(word)
  if (meanings.length === 0) {
    const meant = nearest(word, words())
    throw new UsageError(
      `${word} is not known; ${meant === null ? `these can be explained: ${words().join(', ')}` : `did you mean ${meant}?`}`,
    )
  }
  console.log(
    meanings
      .map(({ where, means, fix }) => [`${word}: ${where}`, ...wrap(plain(means), '  '), ...wrap(`-> ${plain(fix)}`, '  ')].join('\n'))
      .join('\n\n'),
  )
}
