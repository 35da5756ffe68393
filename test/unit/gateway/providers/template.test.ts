import test from 'ava'
import fc from 'fast-check'
import { baseUrlOf, providerHeaders } from '../../../../src/gateway/providers/endpoint.ts'
import { fillTemplate } from '../../../../src/gateway/providers/template.ts'
import { bearer, type Provider } from '../../../../src/gateway/providers/provider.ts'
import { ApiError, type ErrorCode } from '../../../../src/lib/errors.ts'

const fills = test.macro({
  exec(t, template: string, fields: Record<string, string>, expected: string) {
    t.is(fillTemplate(template, fields), expected)
  },
  title: (name = '') => `fills ${name}`,
})

test('nothing', fills, 'https://api.example.com/v1', {}, 'https://api.example.com/v1')
test('a field', fills, 'https://{a_b}.example.com', { a_b: 'Res-1' }, 'https://Res-1.example.com')
test('a field with dots inside', fills, '/x?v={v}', { v: '2024.10-21_x' }, '/x?v=2024.10-21_x')
test('the first that is given', fills, '/{a|b|c}/', { a: '', b: 'two', c: 'three' }, '/two/')
test('the model as one segment', fills, '/m/{model}/x', { model: 'a/b:c?d#e%f é' }, '/m/a%2Fb%3Ac%3Fd%23e%25f%20%C3%A9/x')
test('a value of a query', fills, '/m?a={?tenancy}', { tenancy: 'ocid1..a&b=c/d#e' }, '/m?a=ocid1..a%26b%3Dc%2Fd%23e')
test('the model as segments', fills, '/m/{+model}/x', { model: 'a/b:c?d' }, '/m/a/b%3Ac%3Fd/x')
test('a path parameter as it came', fills, '/files/{file_id}', { file_id: 'file-a%20b:c' }, '/files/file-a%20b:c')
test('a whole URL', fills, '{azure_foundry_url}', { azure_foundry_url: 'https://x.example.com/models///' }, 'https://x.example.com/models')
test('only own fields', fills, '/{a}/', { a: 'constructor' }, '/constructor/')

const refuses = test.macro({
  exec(t, template: string, fields: Record<string, string>, code: ErrorCode, param: string) {
    const error = t.throws(() => fillTemplate(template, fields), { instanceOf: ApiError })
    t.is(error.code, code)
    t.is(error.param, param)
    t.is(error.status, 400)
  },
  title: (name = '') => `refuses ${name}`,
})

test('a missing field', refuses, 'https://{azure_resource_name}.x', {}, 'missing_credential', 'azure_resource_name')
test('an empty field', refuses, 'https://{azure_resource_name}.x', { azure_resource_name: '' }, 'missing_credential', 'azure_resource_name')
test('an inherited field', refuses, '/{constructor}/', {}, 'missing_credential', 'constructor')
test('none of several, naming the first', refuses, '/{a|b}/', {}, 'missing_credential', 'a')
test('a missing model', refuses, '/{model}', {}, 'invalid_request', 'model')
test('a missing path parameter', refuses, '/{file_id}', {}, 'invalid_request', 'file_id')

/** Texts that would change the host, end it, or climb out of a segment. */
const attacks = [
  'evil.com/',
  'evil.com#',
  'evil.com?',
  'evil.com\\',
  'user@evil.com',
  'a:b@evil.com',
  'evil.com:8080',
  'a%2fb',
  'a b',
  'a\tb',
  'a\r\nHost: evil.com',
  'a\0b',
  '..',
  '.',
  '../..',
  'a/../b',
  '.a',
  'a.',
  'a..b',
  '[::1]',
  '{aws_region}',
  'ａ',
  'é',
  'x;y',
  'x,y',
  'x&y=z',
  "x'y",
  'x"y',
  'a'.repeat(201),
]
for (const value of attacks) {
  const name = JSON.stringify(value.slice(0, 20))
  test(
    `as a field: ${name}`,
    refuses,
    'https://{azure_resource_name}.openai.azure.com/{b}',
    { azure_resource_name: value, b: 'b' },
    'invalid_request',
    'azure_resource_name',
  )
}
for (const value of [
  '.',
  '..',
  '%2e',
  '%2E%2e',
  '.%2e',
  'a/b',
  'a%2fb',
  'a%5Cb',
  'a%00',
  'a?b',
  'a#b',
  'a b',
  'a\\b',
  '%',
  '%zz',
  'a\r\nb',
  'é',
]) {
  test(`as a path parameter: ${JSON.stringify(value)}`, refuses, '/files/{file_id}', { file_id: value }, 'invalid_request', 'file_id')
}
for (const value of ['.', '..', '\ud800'])
  test(`as a model: ${JSON.stringify(value)}`, refuses, '/{model}/x', { model: value }, 'invalid_request', 'model')
for (const value of ['/a', 'a/', 'a//b', '../a', 'a/../../b', 'a/.', '\ud800/a']) {
  test(`as a model of segments: ${JSON.stringify(value)}`, refuses, '/{+model}/x', { model: value }, 'invalid_request', 'model')
}
for (const value of [
  'ftp://x',
  'javascript:1',
  'x.example.com',
  '//x',
  'https://u:p@x',
  'https://u@x',
  'https://x?y',
  'https://x#y',
  'file:///etc/passwd',
  'https://',
]) {
  test(`as a whole URL: ${value}`, refuses, '{azure_foundry_url}', { azure_foundry_url: value }, 'invalid_request', 'azure_foundry_url')
}
test(
  'a whole URL where only a label may be',
  refuses,
  'https://{azure_foundry_url}',
  { azure_foundry_url: 'https://evil.com' },
  'invalid_request',
  'azure_foundry_url',
)

test('whatever is filled in, the host keeps its ending and the path its shape', (t) => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'grapheme' }),
      (region, model, file_id) => {
        try {
          const url = new URL(
            fillTemplate('https://a-{aws_region}.example.com/one/{model}/two/{file_id}/three', { aws_region: region, model, file_id }),
          )
          const segments = url.pathname.split('/')
          return (
            url.host.endsWith('.example.com') &&
            url.username === '' &&
            url.search === '' &&
            segments.length === 6 &&
            segments[3] === 'two' &&
            segments[5] === 'three'
          )
        } catch (error) {
          return error instanceof ApiError && error.status === 400
        }
      },
    ),
    { numRuns: 2000 },
  )
  t.pass()
})

const row: Provider = {
  api: 'openai',
  baseUrl: 'https://one.example.com',
  auth: bearer,
  speaks: [],
  headers: { 'x-version': '1' },
  fieldHeaders: { team: 'x-team' },
  variants: [
    { field: 'mode', value: 'b', baseUrl: 'https://b.example.com', speaks: [] },
    { field: 'host', baseUrl: 'https://{host}.example.com', speaks: [] },
  ],
}

test('a variant is taken when its field is given, or has its value', (t) => {
  t.is(baseUrlOf(row, {}), 'https://one.example.com')
  t.is(baseUrlOf(row, { mode: 'a', host: '' }), 'https://one.example.com')
  t.is(baseUrlOf(row, { mode: 'b', host: 'x' }), 'https://b.example.com')
  t.is(baseUrlOf(row, { host: 'x' }), 'https://x.example.com')
})

test('headers: fields are set, defaults give way, and no value can add a header', (t) => {
  t.deepEqual(providerHeaders(row, { team: 'blue' }), { set: ['x-team', 'blue'], unlessSent: ['x-version', '1'] })
  t.deepEqual(providerHeaders(row, { team: '' }).set, [])
  const error = t.throws(() => providerHeaders(row, { team: 'blue\r\nx-evil: 1' }), { instanceOf: ApiError })
  t.is(error.param, 'team')
})
