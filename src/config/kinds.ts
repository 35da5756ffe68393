import { EnvError } from 'envalid'
import { minPasswordLength } from '../lib/password.ts'
import { Secret } from '../lib/secret.ts'
import { scrubValue } from '../lib/text/secret-shapes.ts'

/** A type of setting: its name in the documents and how a value is read. `parse` throws the fault of the value, in words. */
export interface Kind<T extends {}> {
  readonly name: string
  readonly parse: (input: string) => T
  /** How the value is written where types exist, such as in the chart's values: JSON Schema, draft-07. Absent: as text. */
  readonly schema?: Readonly<Record<string, unknown>>
}

/** Throws the fault of a value. */
export function fault(message: string): never {
  throw new EnvError(message)
}

/** The value as faults quote it: short, on one line. Never used for secrets. */
export function quoted(input: string): string {
  const shown = scrubValue(input)
  return JSON.stringify(shown.length > 60 ? `${shown.slice(0, 60)}...` : shown)
}

/** A value of at most `most` characters, without control characters. */
export const text = (most: number): Kind<string> => ({
  name: 'text',
  schema: { type: 'string', maxLength: most },
  parse: (input) => {
    if (input.length > most) fault(`has ${input.length} characters, at most ${most} are allowed`)
    return /\p{Cc}/u.test(input) ? fault('holds a control character') : input
  },
})

/** The schema of a text of some form, or of none, which means unset. It keeps out clear mistakes before a deployment; `parse` judges the rest. */
export const formed = (pattern: string): Kind<string>['schema'] & object => ({ type: 'string', pattern: `^(${pattern})?$` })

/** Any value that is never shown. */
export const secret: Kind<Secret> = { name: 'secret', parse: (input) => new Secret(input) }

/** An e-mail address, in lower case. */
export const email: Kind<string> = {
  name: 'e-mail address',
  schema: formed(String.raw`[^\s@]+@[^\s@]+`),
  parse: (input) =>
    /^[^\s@<>"(),:;[\]\\]{1,64}@[^\s@<>"(),:;[\]\\]{1,250}$/.test(input)
      ? input.toLowerCase()
      : fault(`${quoted(input)} is not an e-mail address`),
}

/** An API key given from outside: long enough not to be guessed, and such that a header can carry it. */
export const apiKey: Kind<Secret> = {
  name: 'secret',
  parse: (input) => {
    if (input.length < 32) fault(`has ${input.length} characters, at least 32 are needed`)
    if (!/^[\x20-\x7e]+$/.test(input)) fault('holds a character that no HTTP header can carry: use printable ASCII')
    return input === input.trim() ? new Secret(input) : fault('begins or ends with a space')
  },
}

/** A password of a person, long enough not to be guessed. */
export const password: Kind<Secret> = {
  name: 'secret',
  parse: (input) =>
    input.length < minPasswordLength
      ? fault(`has ${input.length} characters, at least ${minPasswordLength} are needed`)
      : new Secret(input),
}

/** A whole number between two bounds. */
export const integer = (least: number, most: number): Kind<number> => ({
  name: 'whole number',
  schema: { type: 'integer', minimum: least, maximum: most },
  parse: (input) => {
    const value = /^[+-]?\d+$/.test(input) ? Number(input) : Number.NaN
    return value >= least && value <= most ? value : fault(`${quoted(input)} is not a whole number from ${least} to ${most}`)
  },
})

/** A number between two bounds. */
export const number = (least: number, most: number): Kind<number> => ({
  name: 'number',
  schema: { type: 'number', minimum: least, maximum: most },
  parse: (input) => {
    const value = /^\d+(\.\d+)?$/.test(input) ? Number(input) : Number.NaN
    return value >= least && value <= most ? value : fault(`${quoted(input)} is not a number from ${least} to ${most}`)
  },
})

/** `@` and the slug of a stored provider. */
export const providerSlug: Kind<string> = {
  name: 'slug',
  schema: formed('@[A-Za-z0-9][A-Za-z0-9_-]*'),
  parse: (input) =>
    /^@[A-Za-z0-9][\w-]{0,254}$/.test(input)
      ? input
      : fault(`${quoted(input)} is no stored provider: write @ and its slug, such as @embeddings`),
}

/** A release of Gatehouse. */
export const release: Kind<string> = {
  name: 'release',
  schema: formed(String.raw`\d+\.\d+\.\d+`),
  parse: (input) =>
    /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}$/.test(input) ? input : fault(`${quoted(input)} is no release: write major.minor.patch`),
}

/** A chart such as `app-1.6.0`, given back as its version. */
export const chart: Kind<string> = {
  name: 'chart',
  parse: (input) => {
    const [, version] = /^app-((?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2})$/.exec(input) ?? []
    return version ?? fault(`${quoted(input)} is no chart: write app-major.minor.patch`)
  },
}

/** A size in the unit that the name of the setting states, returned in bytes. */
export const size = (bytes: number, { least, most }: { least: number; most: number }): Kind<number> => ({
  name: bytes === 1024 ? 'KiB' : 'MiB',
  schema: { type: 'number', minimum: least, maximum: most },
  parse: (input) => Math.round(number(least, most).parse(input) * bytes),
})

const unitsMs: Readonly<Record<string, number>> = { '': 1, ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const mostMs = 2 ** 31 - 1

/** A duration such as `30s`; a bare number means milliseconds. Timers take no more than 24 days. */
export const duration = (leastMs: number): Kind<number> => ({
  name: 'duration',
  // A zero means the same in every unit.
  schema: {
    type: 'string',
    pattern: leastMs === 0 ? String.raw`^(0|\d+(\.\d+)?\s*(ms|s|m|h|d))$` : String.raw`^\d+(\.\d+)?\s*(ms|s|m|h|d)$`,
  },
  parse: (input) => {
    const [, digits = '', unit = ''] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|)$/i.exec(input) ?? fault(`${quoted(input)} is not a duration`)
    const ms = Math.round(Number(digits) * (unitsMs[unit.toLowerCase()] ?? Number.NaN))
    return ms >= leastMs && ms <= mostMs ? ms : fault(`${quoted(input)} is not between ${leastMs} ms and 24 days`)
  },
})

/** One of a few words, or another name of one, written in any case. */
export const choice = <T extends string>(words: readonly T[], aliases: Readonly<Record<string, NoInfer<T>>> = {}): Kind<T> => ({
  name: words.map((word) => `\`${word}\``).join(', '),
  schema: { type: 'string', enum: [...words, ...Object.keys(aliases)] },
  parse: (input) => {
    const lower = input.toLowerCase()
    const named = (name: string) => name.toLowerCase() === lower
    const alias = Object.keys(aliases).find(named)
    const found = words.find(named) ?? (alias === undefined ? undefined : aliases[alias])
    return found ?? fault(`${quoted(input)} is none of ${words.join(', ')}`)
  },
})

/** On unless `OFF`. */
export const onOff: Kind<boolean> = {
  name: '`ON`, `OFF`',
  schema: { type: 'boolean' },
  parse: (input) => choice(['ON', 'OFF'], { true: 'ON', false: 'OFF' }).parse(input) === 'ON',
}

/** A comma list: each item is read by itself, all wrong items are named at once, doubles are dropped. */
export const list = <T extends {}>(item: Kind<T>): Kind<readonly T[]> => ({
  name: `list of ${item.name}`,
  schema: { type: 'array', items: item.schema ?? { type: 'string' } },
  parse: (input) => {
    const parts = input.split(',').flatMap((part) => part.trim() || [])
    const faults: string[] = []
    const values = parts.flatMap((part) => {
      try {
        return [item.parse(part)]
      } catch (error) {
        faults.push(error instanceof Error ? error.message : String(error))
        return []
      }
    })
    return faults.length > 0 ? fault(faults.join('; ')) : [...new Set(values)]
  },
})
