import { copyFile } from 'node:fs/promises'
import path from 'node:path'
import type { ExecutionContext } from 'ava'
import { imageProgram } from '../../src/distribution/release/names.ts'
import { makeAuthority, makeCertificate } from './certificates.ts'
import { programFile } from './program.ts'
import { gatehouse } from './cli.ts'
import { startRegistry } from './registry.ts'
import { smallRelease } from './small-release.ts'

/** Puts the bundles of this release and of an earlier one into a folder, with their key, and starts a registry to load them into. */
export async function stageBundles(t: ExecutionContext, folder: string): Promise<Readonly<Record<string, string>>> {
  // The command line of the bundle is the one of this checkout.
  const program = `await import(${JSON.stringify(programFile('gatehouse'))})\n`
  const releases = [await smallRelease({ files: { [imageProgram]: program } }), await smallRelease()]
  const [release, earlier] = releases
  if (release === undefined || earlier === undefined) throw new Error('two releases were made')
  t.teardown(() => Promise.all(releases.map((each) => each.remove())))
  const bundle = ({ folder: source }: typeof release, name: string) =>
    gatehouse(['bundle', 'create', source, '--key', release.privateKey, '--output', path.join(folder, `gatehouse-${name}.bundle.tar`)])
  for (const made of [bundle(release, release.version), bundle(earlier, '1.11.2')]) if (made.status !== 0) throw new Error(made.stderr)
  await copyFile(release.publicKey, path.join(folder, 'gatehouse.pub'))
  const authority = makeAuthority('an authority of this network')
  const registry = await startRegistry({ tls: makeCertificate(authority, 'localhost') })
  t.teardown(() => registry.close())
  return { REGISTRY: `${registry.host}/mirror`, NODE_EXTRA_CA_CERTS: authority.certFile }
}
