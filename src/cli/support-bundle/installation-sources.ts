import { readdirSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { formatProblems, ignoredSettings, reportSettings, suspiciousNames } from '../../config/index.ts'
import { version } from '../../config/version.ts'
import { NotPossible } from '../preflight/not-possible.ts'
import { preflightChecks } from '../preflight/checks.ts'
import { roomOf } from '../preflight/checks/disk.ts'
import { runChecks } from '../preflight/run.ts'
import type { Scene, Source } from './source.ts'

/** The versions of Gatehouse and of its platform. */
export const versionsSource: Source = {
  name: 'versions',
  collect: async ({ stage: { env } }) => [
    {
      path: 'versions.json',
      document: {
        gatehouse: version(),
        node: process.versions,
        chart: env['DEPLOYMENT_CHART'] ?? null,
        platform: process.platform,
        architecture: process.arch,
        kernel: os.release(),
        cpus: os.availableParallelism(),
        memory_bytes: os.totalmem(),
        user: { uid: process.getuid?.() ?? null, gid: process.getgid?.() ?? null },
        kubernetes: env['KUBERNETES_SERVICE_HOST'] !== undefined,
        time: new Date().toISOString(),
        time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      },
    },
  ],
}

/** The settings in effect, secrets masked. */
export const settingsSource: Source = {
  name: 'settings',
  collect: async ({ stage: { env, configError } }) => [
    {
      path: 'settings.json',
      document: {
        settings: reportSettings(env).map(({ name, value, from }) => ({ name, value, from })),
        misspelt: suspiciousNames(env),
        ignored: ignoredSettings(env),
        problems: configError === null ? null : formatProblems(configError.problems),
      },
    },
  ],
}

/** All checks of `gatehouse preflight`. */
export const preflightSource: Source = {
  name: 'preflight',
  collect: async ({ stage }) => [{ path: 'preflight.json', document: await runChecks(preflightChecks, stage) }],
}

const questions = { '/v1/health': 'health.json', '/healthz': 'healthz.json', '/readyz': 'readyz.json' } as const

/** The health that the running process reports. */
export const healthSource: Source = {
  name: 'health',
  async collect({ process: running }) {
    if (running === null) throw new NotPossible('the address of the process is not known: give --url')
    const metrics = await running.ask('/metrics')
    if (metrics === null) throw new NotPossible(`no process answers at ${running.url}`)
    const answers = Object.entries(questions).map(async ([from, to]) => {
      const answer = await running.ask(from)
      return {
        path: `health/${to}`,
        document: { url: `${running.url}${from}`, status: answer?.status ?? null, body: toJson(answer?.text ?? '') },
      }
    })
    return [...(await Promise.all(answers)), { path: 'health/metrics.txt', text: metrics.text }]
  },
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text.slice(0, 2000)
  }
}

/** The log records that wait on disk for the database. */
export const journalSource: Source = {
  name: 'journal',
  async collect({ stage }) {
    const { dataDir, maxSpoolBytes } = stage.settings()
    const { freeBytes, freeFiles } = roomOf(dataDir)
    return [
      {
        path: 'journal.json',
        document: { limit_bytes: maxSpoolBytes, free_bytes: freeBytes, free_files: freeFiles, files: journalFiles(dataDir) },
      },
    ]
  },
}

/** The files of the journal, with their sizes. */
export function journalFiles(dataDir: string): readonly { readonly file: string; readonly bytes: number; readonly changed: string }[] {
  const folder = path.join(dataDir, 'journal')
  const stats = statSync(folder, { throwIfNoEntry: false })
  if (stats === undefined) return []
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return entries.flatMap(({ parentPath, name }) => {
    const file = path.join(parentPath, name)
    const found = statSync(file, { throwIfNoEntry: false })
    return found === undefined ? [] : [{ file: path.relative(folder, file), bytes: found.size, changed: found.mtime.toISOString() }]
  })
}

/** The installation's own record of pending work, for the sources below. */
export const dataDirOf = ({ stage }: Pick<Scene, 'stage'>): string | null => (stage.configError === null ? stage.settings().dataDir : null)
