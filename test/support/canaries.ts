import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { ClientConfig } from 'pg'
import { inDatabase } from './database.ts'

/** A secret that is nowhere else in the world, and where it was planted. */
export interface Canary {
  readonly name: string
  readonly value: string
}

export interface Canaries {
  readonly all: readonly Canary[]
  /** A new secret: letters and digits, so that no encoding of text changes it. */
  plant(name: string): string
  /** Watches for a secret of another making. */
  watch(name: string, value: string): string
}

/** Starts without a canary. */
export function createCanaries(): Canaries {
  const all: Canary[] = []
  const watch = (name: string, value: string) => {
    all.push({ name, value })
    return value
  }
  return { all, watch, plant: (name) => watch(name, `cnry${randomBytes(16).toString('hex')}`) }
}

/** A new RSA key in PEM; one of its lines is the canary. */
export function plantPem(canaries: Canaries, name: string): string {
  const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  canaries.watch(name, pem.split('\n')[5] ?? '')
  return pem
}

/** A place where secrets could come to light, and all that stands there. */
export interface Place {
  readonly name: string
  readonly text: string
}

/** Where each canary is seen, in the clear, in base64 or in hexadecimal. */
export function sightings(canaries: readonly Canary[], places: readonly Place[]): readonly string[] {
  return places.flatMap(({ name: place, text }) =>
    canaries.flatMap(({ name, value }) => {
      const form = Object.entries(formsOf(value)).find(([, forms]) => forms.some((seen) => text.includes(seen)))
      return form === undefined ? [] : [`${name} in ${place} (${form[0]})`]
    }),
  )
}

function formsOf(value: string): Readonly<Record<string, readonly string[]>> {
  const hex = Buffer.from(value).toString('hex')
  return { plain: [value], base64: [0, 1, 2].map((shift) => base64At(value, shift)), hex: [hex, hex.toUpperCase()] }
}

/** The part of a text's base64 that is independent of its surroundings, when `shift` bytes stand before it. */
function base64At(value: string, shift: number): string {
  const encoded = Buffer.concat([Buffer.alloc(shift), Buffer.from(value)]).toString('base64')
  return encoded.replace(/=+$/, '').slice(shift === 0 ? 0 : shift + 1, -2)
}

/** Every row of every table as text; binary values also as the bytes that they hold. */
export const dumpDatabase = (superuser: ClientConfig): Promise<readonly Place[]> =>
  inDatabase(superuser, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') ORDER BY name`,
    )
    const places: Place[] = []
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`)
      const text = rows.map(({ row }) => row).join('\n')
      const bytes = [...text.matchAll(/\\x((?:[0-9a-f]{2})+)/g)].map(([, hex = '']) => Buffer.from(hex, 'hex').toString('latin1'))
      places.push({ name: `table ${name}`, text: `${text}\n${bytes.join('\n')}` })
    }
    return places
  })

/** Every file below a folder, as it is at this moment. */
export async function readFiles(folder: string): Promise<readonly Place[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
  const texts = await Promise.all(files.map((file) => readFile(file, 'latin1').catch(() => '')))
  return files.map((file, at) => ({ name: `file ${path.relative(folder, file)}`, text: texts[at] ?? '' }))
}
