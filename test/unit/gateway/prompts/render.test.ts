import test from 'ava'
import { bounds } from '../../../../src/gateway/prompts/bounds.ts'
import { linkPartials } from '../../../../src/gateway/prompts/partials.ts'
import { newBudget, plainText, render } from '../../../../src/gateway/prompts/render.ts'
import { compile } from '../../../../src/gateway/prompts/template.ts'
import { ApiError } from '../../../../src/lib/errors.ts'
import { renderByReference } from './reference.ts'
import { cases } from './templates.ts'

async function filled(template: string, variables: unknown, texts: Readonly<Record<string, string>> = {}): Promise<string> {
  const compiled = compile(template, 'string')
  const read = (names: readonly string[]) => Promise.resolve(new Map(names.map((name) => [name, texts[name] ?? null])))
  const { partials } = await linkPartials([compiled], read)
  return render(compiled, variables, { partials, output: plainText, budget: newBudget() })
}

test('the table has its 60 templates', (t) => {
  t.true(cases.length >= 60, `${cases.length}`)
  t.is(new Set(cases.map(({ name }) => name)).size, cases.length)
})

for (const { name, template, variables, partials, expected, safer } of cases) {
  test(`gives what Mustache gives: ${name}`, async (t) => {
    t.is(await filled(template, variables, partials), expected)
    const reference = renderByReference(template, variables, partials)
    if (safer === true) t.not(reference, expected, 'the reference gives the same: this is no exception')
    else t.is(reference, expected)
  })
}

test('a line with two partials keeps its white space, a line with one alone does not', async (t) => {
  const texts = { a: 'A', b: 'B' }
  for (const [template, expected] of [
    ['{{>a}} {{>b}}', 'A B'],
    ['{{>a}} \t{{>b}}\nnext', 'A \tB\nnext'],
    ['{{>a}} {{>b}}  \r\n {{>a}} {{>b}} {{>a}} ', 'A B  \r\n A B A '],
    ['{{#on}}\n{{>a}} {{>b}}\n{{/on}}\nend', 'A B\nend'],
    ['{{#on}}{{>a}} {{>b}} {{/on}}x', 'A B x'],
    ['{{=<% %>=}}<%>a%> <%>b%>\n', 'A B\n'],
    ['  {{>a}}\nx', '  Ax'],
    ['{{>a}}\n{{>b}}\n', 'AB'],
  ] as const)
    t.is(await filled(template, { on: true }, texts), expected, template)
})

const refused = (
  t: { throwsAsync: (work: Promise<unknown>, expectation: object) => Promise<unknown> },
  work: Promise<unknown>,
  message: RegExp,
) => t.throwsAsync(work, { instanceOf: ApiError, code: 'invalid_request', message })

for (const [template, message] of [
  ['{{#a}}', /Unclosed section "a"/],
  ['{{#a}}{{/b}}', /Unclosed section "a"/],
  ['{{/a}}', /Unopened section "a"/],
  ['{{a', /Unclosed tag/],
  ['{{=x=}}', /Invalid tags/],
  [`{{a${' '.repeat(60_000)}b}}`, /more than 200 spaces/],
  [`{{=<% %>=}}<%a${'\n'.repeat(60_000)}b%>`, /more than 200 spaces/],
  ['{{a}}'.repeat(bounds.tags + 1), /more than 1000 tags/],
  ['{{#a}}'.repeat(bounds.nesting + 1) + '{{/a}}'.repeat(bounds.nesting + 1), /nested deeper than 50/],
  ['x'.repeat(bounds.templateLength + 1), /longer than 262144/],
] as const)
  test(`refuses at once: ${template.slice(0, 20)} (${template.length})`, (t) => refused(t, filled(template, {}), message))

test('a template that cannot end is ended', async (t) => {
  await refused(t, filled('{{>a}}', {}, { a: 'x{{>a}}' }), /nested deeper than 100/)
  const many = Array.from({ length: 1000 }, () => 1)
  await refused(t, filled('{{#a}}{{#a}}{{#a}}{{/a}}{{/a}}{{/a}}', { a: many }), /more than 200000 parts/)
  await refused(t, filled('{{#a}}{{v}}{{/a}}', { a: many, v: 'x'.repeat(2000) }), /longer than 1048576/)
  await refused(t, filled(`{{#a}}{{v${'.v'.repeat(20_000)}}}{{/a}}`, { a: many, v: 1 }), /more than 2000000 names/)
  const doubling = Object.fromEntries(Array.from({ length: 18 }, (_, at) => [`p${at}`, `{{>p${at + 1}}}{{>p${at + 1}}}`]))
  await refused(t, filled('{{>p0}}', {}, { ...doubling, p18: '' }), /more than 200000 parts/)
})

test('partials are bound in depth and length', async (t) => {
  const chain = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`p${at}`, `{{>p${at + 1}}}`]))
  await refused(t, filled('{{>p0}}', {}, { ...chain, p30: 'x' }), /deeper than 20/)
  const indents = Array.from({ length: 3 }, (_, at) => `${' '.repeat(at + 1)}{{>big}}\n`).join('')
  await refused(t, filled(indents, {}, { big: 'x'.repeat(bounds.templateLength - 100) }), /longer than 524288/)
  const { heapUsed, external } = process.memoryUsage()
  await refused(t, filled(`${' '.repeat(2000)}{{>lines}}`, {}, { lines: 'x\n'.repeat(130_000) }), /longer than 524288/)
  const after = process.memoryUsage()
  t.true(after.heapUsed + after.external - heapUsed - external < 100_000_000, 'it is not made before it is measured')
  t.is(await filled(`${' '.repeat(2000)}{{a}}\n\n${' '.repeat(500)}b`, { a: 1 }), `${' '.repeat(2000)}1\n\n${' '.repeat(500)}b`)
})

test('no more partials are read than a prompt may hold', async (t) => {
  const asked: string[] = []
  const many = compile(Array.from({ length: 900 }, (_, at) => `{{>p${at}}}`).join(''), 'string')
  const read = (names: readonly string[]) => {
    asked.push(...names)
    return Promise.resolve(new Map(names.map((name) => [name, 'x'.repeat(bounds.templateLength)])))
  }
  await refused(t, linkPartials([many], read), /longer than 524288/)
  t.true(asked.length < 100, `${asked.length}`)
})
