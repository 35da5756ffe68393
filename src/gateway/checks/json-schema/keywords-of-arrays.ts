import { childOf } from '../../../lib/json/json-path.ts'
import type { Application, Keyword, SchemaFault, Validation } from './keyword.ts'

const fault = (isWell: boolean, path: string, message: string): readonly SchemaFault[] => (isWell ? [] : [{ path, message }])

/** A keyword that only arrays are judged by. */
const ofArrays =
  (judge: (items: readonly unknown[], application: Application, validation: Validation) => readonly SchemaFault[]): Keyword =>
  (application, validation) =>
    Array.isArray(application.value) ? judge(application.value, application, validation) : []

const each = (
  items: readonly unknown[],
  { schema, path, from = 0 }: { schema: unknown; path: string; from?: number },
  { check }: Validation,
) => items.slice(from).flatMap((item, at) => check(schema, item, `${path}/${at + from}`))

const inOrder: Keyword = ofArrays((items, { rule, path }, { check }) =>
  Array.isArray(rule) ? items.slice(0, rule.length).flatMap((item, at) => check(rule[at], item, `${path}/${at}`)) : [],
)

/** JSON with the keys of every object in order, so that equal values have equal texts. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, child: unknown) =>
    typeof child === 'object' && child !== null && !Array.isArray(child)
      ? Object.fromEntries(Object.entries(child).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : child,
  )

const bound = (rule: unknown, otherwise: number): number => (typeof rule === 'number' ? rule : otherwise)

/** The keywords of arrays. `items` as a list, and `additionalItems`, are those of older drafts. */
export const arrayKeywords: Readonly<Record<string, Keyword>> = {
  prefixItems: inOrder,
  items: ofArrays((items, application, validation) => {
    const { rule, schema, path } = application
    if (Array.isArray(rule)) return inOrder(application, validation)
    const prefix = childOf(schema, 'prefixItems')
    return each(items, { schema: rule, path, from: Array.isArray(prefix) ? prefix.length : 0 }, validation)
  }),
  additionalItems: ofArrays((items, { rule, schema, path }, validation) => {
    const listed = childOf(schema, 'items')
    return Array.isArray(listed) ? each(items, { schema: rule, path, from: listed.length }, validation) : []
  }),
  contains: ofArrays((items, { rule, schema, path }, { check }) => {
    const found = items.filter((item, at) => check(rule, item, `${path}/${at}`).length === 0).length
    const [least, most] = [bound(childOf(schema, 'minContains'), 1), bound(childOf(schema, 'maxContains'), Infinity)]
    return fault(found >= least && found <= most, path, `has ${found} items of the kind asked for`)
  }),
  minItems: ofArrays((items, { rule, path }) => fault(items.length >= bound(rule, 0), path, `must have at least ${String(rule)} items`)),
  maxItems: ofArrays((items, { rule, path }) =>
    fault(items.length <= bound(rule, Infinity), path, `must have at most ${String(rule)} items`),
  ),
  uniqueItems: ofArrays((items, { rule, path }) =>
    fault(rule !== true || new Set(items.map(canonical)).size === items.length, path, 'must have no item twice'),
  ),
}
