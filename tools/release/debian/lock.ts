import { z } from 'zod'

/** The architectures that the base is made for, as Debian names them. */
export const architectures = ['amd64', 'arm64'] as const

export const LockedPackage = z.strictObject({
  version: z.string(),
  /** Below a mirror: `debian/pool/main/g/glibc/libc6_2.41-12_amd64.deb`. */
  file: z.string().regex(/^debian(?:-security)?\/pool\/[\w.+~/%:-]+\.deb$/),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})
export type LockedPackage = z.output<typeof LockedPackage>

/** `docker/debian.lock.json`: the Debian packages of the image, each with its version and its hash. */
export const DebianLock = z.strictObject({
  debian: z.strictObject({ codename: z.string(), version: z.string() }),
  /** When the versions were looked up. */
  day: z.iso.date(),
  /** The packages by variant of the image; `evaluation` adds to `release`. People write this part. */
  wanted: z.strictObject({ release: z.array(z.string()), evaluation: z.array(z.string()) }),
  /** The packages by architecture and name. `gatehouse release lock` writes this part. */
  packages: z.record(z.string(), z.record(z.string(), LockedPackage)),
})
export type DebianLock = z.output<typeof DebianLock>

/** Reads the lines of `apt-get download --print-uris`: name, address and SHA-256 of each package. */
export function readUris(text: string): readonly (readonly [name: string, LockedPackage])[] {
  return text.split('\n').flatMap((line) => {
    const [, address = '', file = '', sha256] = /^'([^']+)' (\S+) \d+ SHA256:([0-9a-f]{64})$/.exec(line) ?? []
    const [, archive] = /^https?:\/\/[^/]+\/(debian(?:-security)?\/pool\/.+)$/.exec(decodeURIComponent(address)) ?? []
    const [name = '', version = ''] = file.split('_')
    if (sha256 === undefined || archive === undefined) return []
    return [[name, { version: decodeURIComponent(version), file: archive, sha256 }] as const]
  })
}
