import { readFileSync } from 'node:fs'
import test from 'ava'
import fc from 'fast-check'
import Mustache from 'mustache'
import { linkPartials } from '../../../../src/gateway/prompts/partials.ts'
import { compilePrompt, renderMessages } from '../../../../src/gateway/prompts/prompt-template.ts'
import { newBudget, plainText, render } from '../../../../src/gateway/prompts/render.ts'
import { compile } from '../../../../src/gateway/prompts/template.ts'
import { ApiError } from '../../../../src/lib/errors.ts'
import { renderByReference } from './reference.ts'

interface Entry {
  readonly template: string
  readonly variables: Readonly<Record<string, unknown>>
}

/** Templates that once had, or might have, two readings. The finds of the fuzzer are added. */
const corpus = JSON.parse(readFileSync(new URL('../../../corpus/templates.json', import.meta.url), 'utf8')) as readonly Entry[]

/** FUZZ_RUNS asks for more than a build has time for. */
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 1500)

const partials = { p: 'P{{a}}\nQ' }

async function ours({ template, variables }: Entry): Promise<string | null> {
  try {
    const compiled = compile(template, 'string')
    const texts = new Map(Object.entries(partials))
    const read = (names: readonly string[]) => Promise.resolve(new Map(names.map((name) => [name, texts.get(name) ?? null])))
    return render(compiled, variables, {
      partials: (await linkPartials([compiled], read)).partials,
      output: plainText,
      budget: newBudget(),
    })
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return null
    throw error
  }
}

/** Null: it is no template there; undefined: it is one, on which the reference stumbles over a null. */
function theirs({ template, variables }: Entry): string | null | undefined {
  const writer = new Mustache.Writer()
  try {
    writer.parse(template)
  } catch {
    return null
  }
  try {
    return renderByReference(template, variables, partials)
  } catch {
    return undefined
  }
}

/**
 * Where our result differs on purpose: objects as JSON, no property of a prototype, partials that the caller keeps, and the white space of a line
 * with two partials.
 */
const onPurpose = ({ template }: Entry, reference: string | null | undefined) =>
  reference === undefined ||
  reference?.includes('[object') === true ||
  /constructor|proto|__|toString|valueOf|>>|\{\{>[^\n]*\{\{>/.test(template)

const name = fc.constantFrom('a', 'b', 'a.b', 'c', '.', 'a.length')
const text = fc.constantFrom('x', ' ', '\n', '  \n', '"', '\\', '{', '}', '{"a":1}')

/** Templates that are mostly well formed, in every shape that the grammar has. */
const { template } = fc.letrec<{ template: string }>((tie) => ({
  template: fc
    .array(
      fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        text,
        name.map((tag) => `{{${tag}}}`),
        name.map((tag) => `{{{${tag}}}}`),
        fc.constantFrom('{{>p}}', '  {{>p}}\n', '{{! c }}', '{{=<% %>=}}<%a%><%={{ }}=%>', '{{', '}}', '{{/a}}'),
        fc.tuple(fc.constantFrom('#', '^'), name, tie('template')).map(([kind, tag, body]) => `{{${kind}${tag}}}${body}{{/${tag}}}`),
      ),
      { maxLength: 6 },
    )
    .map((parts) => parts.join('')),
}))

const scalar = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom('{{a}}', '{{>p}}', '"}]'),
)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.record({ a: tie('value'), b: tie('value') }, { requiredKeys: [] }),
  ),
}))
const variables = fc
  .record({ a: value, b: value, c: value }, { requiredKeys: [] })
  .map((given): Entry['variables'] => JSON.parse(JSON.stringify(given)))

test('the corpus gives what Mustache gives, or is refused as there', async (t) => {
  for (const entry of corpus) {
    const reference = theirs(entry)
    const found = await ours(entry)
    if (!onPurpose(entry, reference)) t.is<unknown, unknown>(found, reference, entry.template)
  }
})

const asThere = async (entry: Entry) => {
  const reference = theirs(entry)
  const found = await ours(entry)
  if (found !== reference && !onPurpose(entry, reference)) throw new Error(`${JSON.stringify(entry)}: ${found}, there ${reference}`)
}

test('any template gives what Mustache gives, or is refused as there', async (t) => {
  const mostlyWellFormed = fc.record({ template, variables })
  const anything = fc.record({
    template: fc.string({ unit: fc.constantFrom(...Array.from('{}#/^>&=! .ab\n"\\x')), maxLength: 40 }),
    variables,
  })
  await fc.assert(fc.asyncProperty(mostlyWellFormed, asThere), { numRuns })
  await fc.assert(fc.asyncProperty(anything, asThere), { numRuns })
  t.pass()
})

const isObject = (given: unknown): given is { readonly role: unknown } =>
  typeof given === 'object' && given !== null && !Array.isArray(given)

/** Raw templates with their roles, for any variables. */
const raws: readonly (readonly [template: string, roles: readonly string[]])[] = [
  ['[{"role":"system","content":"{{a}}"},{"role":"user","content":"x{{a}}{{b}}\\n{{c}}"}]', ['system', 'user']],
  ['[{"role":"user","content":{{a}},"n":"\\{{b}}"}]', ['user']],
  ['[{"role":"user","content":"{{#a}}<{{.}}{{b}}>{{/a}}{{^a}}{{c}}{{/a}}"}]', ['user']],
  ['[{"role":"user","content":[{"type":"text","text":"{{a.b}}{{a.a.a}}"}]},{"role":"assistant","content":""}]', ['user', 'assistant']],
]

test('no variables give a raw template other messages than it has', (t) => {
  const prompts = raws.map(([string, roles]) => ({ roles, prompt: compilePrompt({ string, isRaw: true, jsonVariables: [] }) }))
  const hostile = fc.oneof(value, fc.string({ unit: fc.constantFrom(...Array.from('"\\{}[],: u00rolesystem')), maxLength: 60 }))
  const keepsRoles = (given: object) => {
    for (const { roles, prompt } of prompts) {
      let found: readonly unknown[] = []
      try {
        found = renderMessages(prompt, given, new Map())
      } catch (error) {
        if (error instanceof ApiError && error.status === 400) continue
        throw error
      }
      const roleOf = (message: unknown) => (isObject(message) ? message.role : null)
      if (JSON.stringify(found.map(roleOf)) !== JSON.stringify(roles))
        throw new Error(`${JSON.stringify(given)} gives ${JSON.stringify(found)}`)
    }
  }
  fc.assert(fc.property(fc.record({ a: hostile, b: hostile, c: hostile }, { requiredKeys: [] }), keepsRoles), { numRuns })
  for (const entry of corpus) keepsRoles(entry.variables)
  t.pass()
})
