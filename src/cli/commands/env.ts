import type { Command } from 'commander'
import {
  ConfigError,
  environment,
  ignoredSettings,
  loadConfig,
  reportSettings,
  settingNotes,
  settingsTable,
  suspiciousNames,
  type Environment,
  type SettingReport,
} from '../../config/index.ts'
import { answer } from '../answer.ts'
import { exitCodes } from '../exit-codes.ts'
import { explain } from '../command-help.ts'
import { wrap } from '../wrap.ts'

interface Options {
  readonly markdown?: true
  readonly effective?: boolean
  readonly json?: true
}

/** `gatehouse env`. */
export const addEnv = (program: Command): Command =>
  explain(program.command('env'), { example: 'gatehouse env --effective', exits: { 1: 'with --effective: a setting cannot be used' } })
    .description('Lists the settings: the meaning and default of each, and on request the values in effect here, with secrets masked.')
    .option('--effective', 'the values in effect, at the level of the database if it answers; fails when a setting cannot be used')
    .option('--markdown', 'the descriptions as a Markdown table')
    .option('--json', 'descriptions and values, as a JSON array of { name, type, default, description, since, secret, value, from }')
    .action(async ({ markdown, effective = false, json }: Options) => {
      const env = environment()
      const settings = reportSettings(env)
      answer(json, settings, markdown ? settingsTable() : settings.flatMap(effective ? value : description).join('\n'))
      if (effective) process.exitCode = (await reportTrouble(env)) ? exitCodes.refused : exitCodes.done
    })

function value({ name, value: shown, from }: SettingReport): readonly string[] {
  const source = from === null ? (shown === null ? '' : '  (default)') : from === name ? '' : `  (from ${from})`
  return [`${name}=${shown ?? ''}${source}`]
}

const description = ({ name, type, default: otherwise, description: text, since, secret }: SettingReport): readonly string[] => [
  `${name}${otherwise === null || otherwise === '' ? '' : `=${otherwise}`}`,
  ...wrap(text, '    '),
  `    ${type.replaceAll('`', '')}; since ${since}${secret ? `; also from the file that ${name}_FILE names` : ''}`,
  '',
]

/** Prints the faults of the environment on stderr; returns true when a setting cannot be used. */
async function reportTrouble(env: Environment): Promise<boolean> {
  for (const { name, meant } of suspiciousNames(env)) console.error(`warning: ${name} is not a setting; did you mean ${meant}?`)
  for (const name of ignoredSettings(env)) console.error(`warning: ${name} has no effect without DB_HOST: the embedded PostgreSQL is used`)
  try {
    const config = loadConfig(env)
    const { levelHere } = await import('../level-here.ts')
    for (const { note } of settingNotes(config, await levelHere(config))) console.error(`warning: ${note}`)
    return false
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(`error: ${error.message}`)
    return true
  }
}
