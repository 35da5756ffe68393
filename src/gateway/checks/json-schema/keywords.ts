import { isDeepStrictEqual } from 'node:util'
import { childOf } from '../../../lib/json/json-path.ts'
import { type Keyword, typeNames, unless } from './keyword.ts'
import { formats } from './formats.ts'
import { arrayKeywords } from './keywords-of-arrays.ts'
import { objectKeywords } from './keywords-of-objects.ts'

const list = (rule: unknown): readonly unknown[] => (Array.isArray(rule) ? rule : [])

/** A keyword that only numbers are judged by. */
const ofNumbers =
  (isWell: (value: number, bound: number) => boolean, say: string): Keyword =>
  (application) =>
    typeof application.value === 'number' && typeof application.rule === 'number'
      ? unless(isWell(application.value, application.rule), application, `must be ${say} ${application.rule}`)
      : []

/** The standard counts characters, not the halves of which some are made. */
function codePoints(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) count += 1
  return count
}

const ofLengths =
  (isWell: (length: number, bound: number) => boolean, say: string): Keyword =>
  (application) =>
    typeof application.value === 'string' && typeof application.rule === 'number'
      ? unless(isWell(codePoints(application.value), application.rule), application, `must have ${say} ${application.rule} characters`)
      : []

const isMultiple = (value: number, of: number): boolean => {
  const times = value / of
  return Math.abs(times - Math.round(times)) < 1e-9
}

/** Every keyword that counts; the others of a schema are only remarks. */
export const keywords: Readonly<Record<string, Keyword>> = {
  type(application) {
    const names = Array.isArray(application.rule) ? list(application.rule) : [application.rule]
    const fits = names.some(
      (name) => typeof name === 'string' && Object.hasOwn(typeNames, name) && typeNames[name]?.(application.value) === true,
    )
    return unless(fits, application, `must be of the type ${names.join(' or ')}`)
  },
  enum: (application) =>
    unless(
      list(application.rule).some((one) => isDeepStrictEqual(one, application.value)),
      application,
      'is none of the values allowed',
    ),
  const: (application) => unless(isDeepStrictEqual(application.rule, application.value), application, 'is not the value asked for'),
  multipleOf: ofNumbers(isMultiple, 'a multiple of'),
  minimum: ofNumbers((value, bound) => value >= bound, 'at least'),
  maximum: ofNumbers((value, bound) => value <= bound, 'at most'),
  exclusiveMinimum: ofNumbers((value, bound) => value > bound, 'more than'),
  exclusiveMaximum: ofNumbers((value, bound) => value < bound, 'less than'),
  minLength: ofLengths((length, bound) => length >= bound, 'at least'),
  maxLength: ofLengths((length, bound) => length <= bound, 'at most'),
  pattern: (application, { pattern }) =>
    typeof application.value === 'string' && typeof application.rule === 'string'
      ? unless(pattern(application.rule).test(application.value), application, 'does not match the pattern')
      : [],
  format(application) {
    const isFormat =
      typeof application.rule === 'string' && Object.hasOwn(formats, application.rule) ? formats[application.rule] : undefined
    return typeof application.value === 'string' && isFormat !== undefined
      ? unless(isFormat(application.value), application, `is no ${String(application.rule)}`)
      : []
  },
  allOf: ({ rule, value, path }, { check }) => list(rule).flatMap((schema) => check(schema, value, path)),
  anyOf: (application, { check }) =>
    unless(
      list(application.rule).some((schema) => check(schema, application.value, application.path).length === 0),
      application,
      'fits none of the schemas',
    ),
  oneOf(application, { check }) {
    const fitting = list(application.rule).filter((schema) => check(schema, application.value, application.path).length === 0)
    return unless(fitting.length === 1, application, `fits ${fitting.length} of the schemas, and must fit one`)
  },
  not: (application, { check }) =>
    unless(check(application.rule, application.value, application.path).length > 0, application, 'fits a schema that it must not fit'),
  if({ rule, schema, value, path }, { check }) {
    const branch = childOf(schema, check(rule, value, path).length === 0 ? 'then' : 'else')
    return branch === undefined ? [] : check(branch, value, path)
  },
  $ref: ({ rule, value, path }, { check, resolve }) => (typeof rule === 'string' ? check(resolve(rule), value, path) : []),
  ...arrayKeywords,
  ...objectKeywords,
}
