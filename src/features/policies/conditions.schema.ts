import { z } from 'zod'
import { isUuid, toReference } from '../../lib/is-uuid.ts'
import { isStorable } from '../../lib/text/text.ts'
import { since } from '../../release/since.ts'

/** The keys of conditions. A metadata key follows behind `metadata.`. */
const keys = ['api_key', 'workspace_id', 'organisation_id', 'virtual_key', 'provider', 'config', 'prompt', 'model'] as const
const rateLimitKeys = [...keys, 'endpoint_type'] as const

const any = '*'
const one = z.string().min(1).max(255).refine(isStorable, 'NUL characters and broken Unicode are not allowed.')
const several = z.union([one, z.array(one).min(1).max(100)])
const plain = one.refine((value) => !value.includes(any))

const listOf = (values: string | readonly string[]): readonly string[] => (typeof values === 'string' ? [values] : values)

const condition = (known: readonly string[]) =>
  z
    .strictObject({
      key: keyField(known),
      value: since(
        '1.8.0',
        several.meta({
          description: 'One of these must fit; `*` fits every value, and no request without one. A model may be `@provider/*`.',
        }),
        plain,
      ),
      excludes: since('1.8.0', several.meta({ description: 'None of these may fit.' })).optional(),
    })
    .overwrite(({ key, value, excludes, ...rest }) => ({
      ...rest,
      key,
      value: inSmallLetters(key, value),
      ...(excludes !== undefined && { excludes: inSmallLetters(key, excludes) }),
    }))
    .superRefine(({ key, value, excludes }, context) => {
      for (const [path, values] of [
        ['value', listOf(value)] as const,
        ['excludes', excludes === undefined ? [] : listOf(excludes)] as const,
      ])
        for (const message of faultsOf(key, values)) context.addIssue({ code: 'custom', path: [path], message })
      if (excludes === undefined) return
      if (listOf(excludes).includes(any)) context.addIssue({ code: 'custom', path: ['excludes'], message: '`*` would exclude everything.' })
      const both = listOf(value).filter((each) => listOf(excludes).includes(each))
      if (both.length > 0)
        context.addIssue({ code: 'custom', path: ['excludes'], message: `${both.join(', ')} cannot be both asked for and excluded.` })
    })

/** Ids are compared as texts. Values of metadata are texts of callers, also where they look like ids. */
function inSmallLetters<Given extends string | string[]>(key: string, given: Given): Given
function inSmallLetters(key: string, given: string | string[]): string | string[] {
  if (key.startsWith('metadata.')) return given
  return typeof given === 'string' ? toReference(given) : given.map(toReference)
}

const keyField = (known: readonly string[]) =>
  one.refine((key) => known.includes(key) || /^metadata\.\S{1,128}$/.test(key), {
    message: `One of ${known.join(', ')}, or metadata. with a key behind it.`,
  })

/** Why values cannot be those of a key. */
function faultsOf(key: string, values: readonly string[]): readonly string[] {
  return [
    ...(new Set(values).size === values.length ? [] : ['A value comes twice.']),
    ...(values.includes(any) && values.length > 1 ? ['`*` stands alone: it fits every value.'] : []),
    ...values.filter((value) => value !== any && value.includes(any) && !isModelPattern(key, value)).map(misplaced),
    ...values.filter((value) => (key === 'api_key' || key === 'organisation_id') && value !== any && !isUuid(value)).map(noId),
  ]
}

const isModelPattern = (key: string, value: string) => key === 'model' && /^@[a-zA-Z0-9_-]+\/\*$/.test(value)
const misplaced = (value: string) => `\`*\` stands alone, or at the end of a model such as @provider/*: not in ${value}.`
const noId = (value: string) => `${value} is no id.`

const distinct = (items: readonly { readonly key: string }[]) => new Set(items.map(({ key }) => key)).size === items.length
const twice = { message: 'A key comes twice.' }

const conditionsOf = (known: readonly string[]) =>
  z
    .array(condition(known))
    .min(1)
    .max(50)
    .refine(distinct, twice)
    .meta({ description: 'All must hold for a request that the policy applies to; 64 KiB of JSON at most.' })

const groupsOf = (known: readonly string[]) =>
  z
    .array(z.strictObject({ key: keyField(known) }))
    .min(1)
    .max(20)
    .refine(distinct, twice)
    .meta({ description: 'Requests that agree in all of these share one limit.' })

/** The conditions and groups of a usage-limit policy. */
export const usageLimitConditions = conditionsOf(keys)
export const usageLimitGroups = groupsOf(keys)

/** Those of a rate-limit policy, which can also look at the kind of endpoint. */
export const rateLimitConditions = conditionsOf(rateLimitKeys)
export const rateLimitGroups = groupsOf(rateLimitKeys)

/** A condition as it is stored and answered. */
export interface Condition {
  readonly key: string
  readonly value: string | readonly string[]
  readonly excludes?: string | readonly string[] | undefined
}

export interface Group {
  readonly key: string
}

export const conditionsView = z.array(
  z.object({
    key: z.string(),
    value: z.union([z.string(), z.array(z.string())]),
    excludes: since('1.8.0', z.union([z.string(), z.array(z.string())])).optional(),
  }),
)
export const groupsView = z.array(z.object({ key: z.string() }))
