import { z } from 'zod'
import { isVersion } from './version.ts'

const Version = z.string().refine(isVersion, 'is no version: write major.minor.patch, such as 1.12.0')
const Floor = z
  .string()
  .refine((text) => isVersion(text.replace(/^>=?/, '')) && text.startsWith('>'), 'is no floor: write >1.4.0 or >=1.6.0')
const Id = z.string().regex(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/, 'is no id: write lower-case words joined by -')
const SettingName = z.string().regex(/^[A-Z][A-Z0-9_]*$/, 'is no name of an environment variable')
const Operation = z.string().regex(/^(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) \/\S*$/, 'is no operation: write GET /path/{parameter}')
const Sentence = z.string().trim().min(1)

const changes = <T extends z.ZodType<string>>(item: T) =>
  z.strictObject({ added: z.array(item).default([]), changed: z.array(item).default([]), removed: z.array(item).default([]) }).prefault({})

/** Operations under `/v1`; `GET /logs/groups/{groupBy}: grouped-analytics` where the path does not begin with the name of its feature. */
const Api = z
  .strictObject({
    added: z.array(z.union([Operation, z.record(Operation, Id)])).default([]),
    changed: z.array(Operation).default([]),
    removed: z.array(Operation).default([]),
  })
  .prefault({})
  .transform(({ added, ...others }) => ({
    ...others,
    added: added.flatMap((item) => (typeof item === 'string' ? item : Object.keys(item))),
    /** The features of the operations that name one, by operation. */
    owners: Object.fromEntries(added.flatMap((item) => (typeof item === 'string' ? [] : Object.entries(item)))),
  }))

/** One step of the schema's history; `needs` are backfills that must be complete before a contract step. */
const Migration = z.strictObject({
  id: z.string().regex(/^v\d\d\.\d\d\.\d\d\/[a-z0-9-]+$/, 'is no migration: write v01.05.00/001-name'),
  phase: z.enum(['expand', 'backfill', 'contract']),
  needs: z.array(z.string()).default([]),
  minApp: Version.optional(),
})

/** A breaking change for operators, and the preflight check that finds it before they upgrade. */
const Breaking = z.strictObject({ id: Id, check: Id, fix: Sentence })

/** A release at which an upgrade must halt, always or only for installations of which `when` is true. */
const Stop = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('required'), reason: Sentence }),
  z.strictObject({ kind: z.literal('conditional'), when: z.enum(['volume']), reason: Sentence }),
])

/** A line, and behind it in brackets the entry of the record that it describes: `Lists can be filtered by tags. [tags]`. */
const Note = z.string().transform((line) => {
  const [, text = line, names = ''] = /^(.*?)(?: \[([^\]]*)\])?$/.exec(line) ?? []
  return {
    text,
    of: names
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean),
  }
})

/** `releases/<version>.yaml`: everything that one release is, proved against the code by `release check`. */
export const ReleaseRecord = z.strictObject({
  version: Version,
  date: z.iso.date(),
  /** The charts that can deploy it; null: any. */
  chart: Floor.nullable(),
  kind: z.enum(['major', 'minor', 'patch', 'security']),
  features: changes(Id),
  env: changes(SettingName),
  /** Fields, parameters and values, by the feature that they are of: `{ tags: { body.tags: [POST /integrations] } }`. */
  fields: z.record(Id, z.record(z.string(), z.array(Operation))).default({}),
  api: Api,
  migrations: z.array(Migration).default([]),
  breaking: z.array(Breaking).default([]),
  stop: Stop.nullable().default(null),
  security: z.array(Sentence).default([]),
  postgres: z.string().regex(/^>=\d+ <\d+$/, 'is no range: write >=14 <19'),
  kubernetes: z.string().regex(/^>=\d+\.\d+$/, 'is no floor: write >=1.25'),
  /** One line for each change, with the entry of the record that it describes. */
  notes: z.string().transform((text) =>
    text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
      .map((line) => Note.parse(line)),
  ),
})
export type ReleaseRecord = z.output<typeof ReleaseRecord>

/** One chart in `releases/charts.yaml`; `appVersion` is the release that it was cut for. */
export const Chart = z.strictObject({ version: Version, date: z.iso.date(), appVersion: Version })
export type Chart = z.output<typeof Chart>

export const ChartList = z.strictObject({ charts: z.array(Chart).min(1) })

/** `releases/locks/<version>.lock.json`, written once at build time: SHA-256 of the released files, its images, and the digests of all. */
export const Lock = z.strictObject({
  version: Version,
  record: z.string(),
  migrations: z.record(z.string(), z.string()),
  images: z.array(z.string()),
  /** By the name of the image, the chart or the file. */
  digests: z.record(z.string(), z.string().regex(/^sha256:[0-9a-f]{64}$/)),
})
export type Lock = z.output<typeof Lock>
