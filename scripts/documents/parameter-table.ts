import { z } from 'zod'

/** A JSON Schema, as far as a table shows it. */
interface Shape {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Shape[]
  readonly items?: Shape
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
  readonly additionalProperties?: unknown
  readonly default?: unknown
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Shape>>
}

/** One field of an object, nested ones by their path. */
export interface Row {
  readonly name: string
  readonly type: string
  readonly otherwise: string
  readonly about: string
}

export const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', '\\n')
export const code = (value: unknown): string => `\`${cell(typeof value === 'string' ? value : JSON.stringify(value))}\``
const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** The fields of an object schema; objects whose fields are known are opened. */
export function fieldRows(
  schema: z.ZodType,
  options: { readonly leaveOut?: ReadonlySet<string>; readonly secrets?: ReadonlySet<string> } = {},
): readonly Row[] {
  const shape: Shape = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', target: 'draft-2020-12' }) as Shape
  return rowsOf(resolved(shape), '', { leaveOut: options.leaveOut ?? new Set(), secrets: options.secrets ?? new Set() })
}

/** A schema that holds itself stands among the definitions. */
const resolved = (shape: Shape): Shape => (shape.$ref === undefined ? shape : (shape.$defs?.[shape.$ref.split('/').at(-1) ?? ''] ?? shape))

interface Options {
  readonly leaveOut: ReadonlySet<string>
  readonly secrets: ReadonlySet<string>
}

function rowsOf({ properties = {}, required = [] }: Shape, before: string, options: Options): readonly Row[] {
  return Object.entries(properties).flatMap(([short, field]): readonly Row[] => {
    const name = before + short
    if (options.leaveOut.has(name)) return []
    if (field.properties !== undefined && short === 'credentials') return rowsOf(field, `${name}.`, options)
    if (field.properties !== undefined && before.startsWith('credentials.')) return rowsOf(field, `${name}.`, options)
    const otherwise = field.default === undefined ? (required.includes(short) ? 'required' : '') : defaultText(field.default)
    const secret = options.secrets.has(name) ? 'Secret.' : ''
    return [{ name, type: typeText(field), otherwise, about: [field.description ?? '', secret].filter(Boolean).join(' ') }]
  })
}

const defaultText = (value: unknown): string => (JSON.stringify(value).length > 80 ? 'all of them' : code(value))

function typeText({ type, enum: values, anyOf, items, minimum, maximum, $ref }: Shape): string {
  if ($ref !== undefined) return 'object'
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeText))].join(' or ')
  if (values !== undefined) return values.map(code).join(', ')
  if (type === 'array') return `list of ${items?.enum === undefined ? plural(items ?? {}) : typeText(items)}`
  if ((type === 'integer' || type === 'number') && minimum !== undefined && maximum !== undefined && Math.abs(maximum) < 1e15)
    return `${type}, ${minimum} to ${maximum}`
  return type ?? 'any value'
}

/** The contents of a list; bounds of single items would be too much. */
function plural(items: Shape): string {
  if (items.anyOf !== undefined) return items.anyOf.map(plural).join(' or ')
  return items.type === undefined ? (items.$ref === undefined ? 'any values' : 'objects') : `${items.type}s`
}

/** The rows as a table. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')

/** Fields as a table. */
export const fieldTable = (rows: readonly Row[]): string =>
  table(
    ['Parameter', 'Type', 'Default', 'What it is'],
    rows.map(({ name, type, otherwise, about }) => [code(name), type, otherwise, cell(about)]),
  )
