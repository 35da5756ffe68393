import { readFileSync } from 'node:fs'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { readPrivateKey, readPublicKey, type Trust } from '../../distribution/sign.ts'
import { UsageError } from '../failure.ts'

/** Adds `--key` and `--key-fingerprint`, which `trustOf` reads. */
export const addTrust = (command: Command): Command =>
  command
    .option('--key <file>', 'the public key to believe, PEM, from a place that you trust')
    .addOption(
      new Option('--key-fingerprint <fingerprint>', 'believe the key that came along, when it has this fingerprint')
        .argParser(readFingerprint)
        .conflicts('key'),
    )

/** Returns the key that the operator trusts; throws UsageError when the command line names none. */
export function trustOf(command: Command): Trust {
  const { key, keyFingerprint } = command.opts<{ key?: string; keyFingerprint?: string }>()
  if (key !== undefined) return { key: readPublicKey(readNamed('--key', key)) }
  if (keyFingerprint !== undefined) return { fingerprint: keyFingerprint }
  throw new UsageError(
    'name the public key with --key, or its fingerprint with --key-fingerprint: the key that came along proves nothing by itself',
  )
}

function readFingerprint(text: string): string {
  if (/^sha256:[0-9a-f]{64}$/i.test(text)) return text.toLowerCase()
  throw new InvalidArgumentError('write sha256: and 64 hexadecimal digits')
}

/** Adds `--key` and `--passphrase-file` for signing, which `signingKeyOf` reads. */
export const addSigningKey = (command: Command): Command =>
  command
    .requiredOption('--key <file>', 'the private key to sign with, PEM of ECDSA P-256')
    .option('--passphrase-file <file>', 'the file that holds the passphrase of the key')

/** The key to sign with. */
export function signingKeyOf(command: Command) {
  const { key = '', passphraseFile } = command.opts<{ key?: string; passphraseFile?: string }>()
  const passphrase = passphraseFile === undefined ? undefined : readSecret('--passphrase-file', passphraseFile)
  return readPrivateKey(readNamed('--key', key), passphrase)
}

/** The content of a file that an option names; throws UsageError. */
export function readNamed(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new UsageError(`${option} names ${file}, which cannot be read`)
  }
}

/** The first line of a file. */
export const readSecret = (option: string, file: string): string => readNamed(option, file).split(/\r?\n/, 1)[0] ?? ''
