// oxlint-disable-next-line no-restricted-imports -- opens no socket: it sets the authorities that the egress trusts
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { InvalidArgumentError, Option, type Command } from 'commander'
import type { Registry } from '../../distribution/registry/registry.ts'
import { parseTarget, type RegistryTarget } from '../../distribution/registry/target.ts'
import { environment, loadProxies } from '../../config/index.ts'
import { UsageError } from '../failure.ts'
import { readNamed, readSecret } from './trust.ts'

interface Options {
  readonly to: RegistryTarget
  readonly username?: string
  readonly passwordFile?: string
  readonly ca?: string
}

/** Adds `--to` and the login for it, which `openNamedRegistry` reads. */
export const addRegistry = (command: Command): Command =>
  command
    .addOption(
      new Option('--to <registry>', '[http://]host[:port][/prefix]; HTTPS unless it begins with http://')
        .argParser(readTarget)
        .makeOptionMandatory(),
    )
    .option('--username <name>', 'who asks the registry')
    .option('--password-file <file>', 'the file that holds the password')
    .option('--ca <file>', 'trusted certificate authorities beside those of Node, PEM')

/** The registry that `--to` names. Throws UsageError. */
export async function openNamedRegistry(command: Command): Promise<{ readonly target: RegistryTarget; readonly registry: Registry }> {
  const { to: target, username, passwordFile, ca } = command.opts<Options>()
  if ((username === undefined) !== (passwordFile === undefined)) throw new UsageError('--username and --password-file belong together')
  if (ca !== undefined) believe(readNamed('--ca', ca))
  const { openRegistry } = await import('../../distribution/registry/registry.ts')
  const proxies = loadProxies(environment())
  const password = passwordFile === undefined ? '' : readSecret('--password-file', passwordFile)
  return { target, registry: openRegistry(target, username === undefined ? null : { username, password }, proxies) }
}

function believe(pem: string): void {
  try {
    if (!pem.includes('BEGIN CERTIFICATE')) throw new Error('no certificate')
    setDefaultCACertificates([...getCACertificates(), pem])
  } catch {
    throw new UsageError('--ca names a file that holds no certificates')
  }
}

function readTarget(text: string): RegistryTarget {
  const target = parseTarget(text)
  if (target !== null) return target
  throw new InvalidArgumentError('write [http://]host[:port][/prefix], such as registry.example:5000/mirror')
}
