import test from 'ava'
import { formValues } from '../../../../src/gateway/wire/form-fields.ts'

const type = 'multipart/form-data; boundary=x1'
const part = (head: string, value: string, line = '\r\n') => `--x1${line}${head}${line}${line}${value}${line}`
const values = (parts: readonly string[], contentType = type) =>
  formValues(Buffer.from(`${parts.join('')}--x1--\r\n`), contentType, { field: 'model' })
const named = (name: string) => `Content-Disposition: form-data; ${name}`

test('every way to write the name of a field is the field', (t) => {
  for (const name of ['name="model"', 'name=model', 'NAME="model"', 'name = "model"', `name*=utf-8''model`, 'name="model"; x=y'])
    t.deepEqual(values([part(named(name), 'm')]), ['m'], name)
  t.deepEqual(values([part(named('name="model"'), 'm', '\n')]), ['m'], 'line feeds alone')
  t.deepEqual(values([part(`Content-Type: text/plain\r\n${named('name="model"')}`, 'm')]), ['m'], 'behind other headers')
  t.deepEqual(values([part(named('name="model"'), 'm')], 'multipart/form-data; charset=utf-8; boundary="x1"'), ['m'])
})

test('a field that comes twice has two values, others and files have none', (t) => {
  const file = part(named('name="file"; filename="a.wav"'), 'name="model"\r\n\r\nnot this')
  t.deepEqual(values([part(named('name="model"'), 'a'), file, part(named('name="model"'), 'b')]), ['a', 'b'])
  t.deepEqual(values([part(named('name="models"'), 'm'), part(named('filename="model"'), 'm'), part('no header', 'm')]), [])
})

test('what cannot be read is refused', (t) => {
  t.throws(() => formValues(Buffer.from('--a'.repeat(100_000)), 'multipart/form-data; boundary=a', { field: 'model' }), {
    message: /more than 10000 parts/,
  })
  t.throws(() => values([], 'multipart/form-data'), { message: /boundary/ })
  t.throws(() => values([part(`${named('x=y')}\r\nX: ${'a'.repeat(9000)}`, 'm')]), { message: /longer than/ })
})
