import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import { answer } from '../../src/cli/answer.ts'
import { rootFor } from '../../src/cli/checkout.ts'
import { explain } from '../../src/cli/command-help.ts'
import { UsageError } from '../../src/cli/failure.ts'

interface Options {
  readonly output?: string
  readonly json?: true
}

/** `gatehouse release lock`. */
export const addReleaseLock = (release: Command): Command =>
  explain(release.command('lock'), {
    example: 'gatehouse release lock',
    exits: { 1: 'Debian does not list a version of a package' },
  })
    .description("Takes the newest versions of the image's Debian packages into docker/debian.lock.json. Needs apt and a Debian mirror.")
    .option('--output <file>', 'the file to write, instead of docker/debian.lock.json')
    .option('--json', '[{ architecture, name, from, to }], what changed')
    .action(async ({ output, json }: Options, command: Command) => {
      const file = path.join(rootFor(command), 'docker', 'debian.lock.json')
      const { DebianLock } = await import('../release/debian/lock.ts')
      const { resolveLock } = await import('../release/debian/resolve.ts')
      const before = DebianLock.parse(JSON.parse(readNamed(file)))
      const after = await resolveLock(before, new Date().toISOString().slice(0, 10))
      const changes = Object.entries(after.packages).flatMap(([architecture, packages]) =>
        Object.entries(packages).flatMap(([name, { version, sha256 }]) => {
          const old = before.packages[architecture]?.[name]
          return old?.sha256 === sha256 ? [] : [{ architecture, name, from: old?.version ?? null, to: version }]
        }),
      )
      // A day without changes is no reason for another commit, and no other digest.
      if (changes.length > 0 || output !== undefined) writeFileSync(output ?? file, `${JSON.stringify(after, null, 2)}\n`)
      const lines = changes.map(({ architecture, name, from, to }) => `${name} (${architecture}): ${from ?? 'new'} -> ${to}`)
      answer(json, changes, lines.length > 0 ? lines.join('\n') : 'the list is up to date')
    })

function readNamed(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new UsageError(`there is no ${file}: the list is taken in a checkout`)
  }
}
